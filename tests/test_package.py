"""The wheel, in an environment of its own, far from the repository."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.reuse.bare_project import BareProject

pytestmark = pytest.mark.package

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def agentlens(tmp_path_factory):
    """The installed command's path."""
    home = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
    pip = [home / "env/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    lock = ["--require-hashes", "-r", ROOT / "requirements.lock"]
    subprocess.run([*pip, *lock], check=True, cwd=home)
    subprocess.run([*pip, "--no-deps", ROOT], check=True, cwd=home)
    return home / "env/bin/agentlens"


def test_another_project_can_use_the_catalog_of_the_wheel(agentlens, tmp_path):
    project = BareProject.copied(
        tmp_path / "project", (str(agentlens.parent / "python"),)
    )
    migrated = project.manage("migrate", "--verbosity", "0")
    assert migrated.returncode == 0, migrated.stderr

    found = project.journey()

    assert found["register"]["status"] == 201
    assert {page["status"] for page in found["pages"].values()} == {200}
    assert {answer["status"] for answer in found["anonymous writes"].values()} == {403}
    assert not {"agentlens", "routing"} & set(found["modules"])


def environment(tmp_path) -> dict:
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG")}
    return kept | {"AGENTLENS_DATA_DIR": str(tmp_path / "data")}


@contextmanager
def serving(agentlens, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [agentlens, "serve", "--port", str(port)],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client:
            wait_until_ready(client)
            yield client, process
    finally:
        process.terminate()
        process.wait(10)


def wait_until_ready(client):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.1)
    raise AssertionError("it never became ready")


def test_it_serves_pages_static_files_the_api_and_the_demo(agentlens, tmp_path):
    with serving(agentlens, tmp_path) as (client, process):
        told = process.stdout.readline()
        assert re.match(r"Created the user admin with the password \S+", told)

        def run(*arguments):
            return subprocess.run(
                [agentlens, *arguments],
                cwd=tmp_path,
                env=environment(tmp_path),
                check=True,
                capture_output=True,
                text=True,
            ).stdout

        run("demo")
        token = run("token", "create", "admin").split()[-1]
        client.headers["Authorization"] = f"Bearer {token}"

        assert client.get("/api/v1/catalog").json()["total"] == 50
        login = client.get("/admin/login/").text
        assert "AgentLens" in login
        styles = re.findall(r'href="(/static/[^"]+\.(?:css|svg))"', login)
        assert any("icon.svg" in style for style in styles)
        assert all(client.get(style).status_code == 200 for style in styles)
        assert "swagger" in client.get("/api/v1/docs").text
