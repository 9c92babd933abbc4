"""The wheel, installed into an empty virtual environment outside the repository."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.reuse.bare_project import BareProject
from tests.waiting import wait_until
from tests.with_services import find_free_port

pytestmark = pytest.mark.package

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def agentlens_command(tmp_path_factory):
    """Install the wheel and return the path of its `agentlens` command."""
    home = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
    pip = [home / "env/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    lock = ["--require-hashes", "-r", ROOT / "requirements.lock"]
    subprocess.run([*pip, *lock], check=True, cwd=home)
    subprocess.run([*pip, "--no-deps", ROOT], check=True, cwd=home)
    return home / "env/bin/agentlens"


def test_wheel_provides_catalog_to_other_projects(agentlens_command, tmp_path):
    project = BareProject.copy(
        tmp_path / "project", (str(agentlens_command.parent / "python"),)
    )
    result = project.manage("migrate", "--verbosity", "0")
    assert result.returncode == 0, result.stderr

    responses = project.run_smoke_test()

    assert responses["register"]["status"] == 201
    assert {page["status"] for page in responses["pages"].values()} == {200}
    assert {
        response["status"] for response in responses["anonymous writes"].values()
    } == {403}
    assert not {"agentlens", "routing"} & set(responses["modules"])


def build_environment(tmp_path) -> dict:
    inherited = {
        key: value for key, value in os.environ.items() if key in ("PATH", "LANG")
    }
    return inherited | {"AGENTLENS_DATA_DIR": str(tmp_path / "data")}


@contextmanager
def run_installed_command(agentlens_command, tmp_path):
    port = find_free_port()
    process = subprocess.Popen(
        [agentlens_command, "serve", "--port", str(port)],
        cwd=tmp_path,
        env=build_environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client:
            wait_until(lambda: is_ready(client))
            yield client, process
    finally:
        process.terminate()
        process.wait(10)


def is_ready(client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def test_installed_command_serves_pages_static_files_api_and_demo(
    agentlens_command, tmp_path
):
    with run_installed_command(agentlens_command, tmp_path) as (client, process):
        first_line = process.stdout.readline()
        assert re.match(r"Created the user admin with the password \S+", first_line)

        def run_command(*arguments):
            return subprocess.run(
                [agentlens_command, *arguments],
                cwd=tmp_path,
                env=build_environment(tmp_path),
                check=True,
                capture_output=True,
                text=True,
            ).stdout

        run_command("demo")
        token = run_command("token", "create", "admin").split()[-1]
        client.headers["Authorization"] = f"Bearer {token}"

        assert client.get("/api/v1/catalog").json()["total"] == 50
        login = client.get("/admin/login/").text
        assert "AgentLens" in login
        styles = re.findall(r'href="(/static/[^"]+\.(?:css|svg))"', login)
        assert any("icon.svg" in style for style in styles)
        assert all(client.get(style).status_code == 200 for style in styles)
        assert "swagger" in client.get("/api/v1/docs").text
