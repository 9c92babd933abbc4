"""A protocol is removed by deleting its folders and its lines: docs/architecture.md."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = (
    "agentlens",
    "capabilities",
    "catalog",
    "routing",
    "templates",
    "manage.py",
    "pyproject.toml",
)
FOLDERS = ("capabilities/protocols/agh", "catalog/integrations/agh")
CLIENT = "capabilities/clients/agh.py"
LINES_IN = (
    "capabilities/apps.py",
    "agentlens/settings.py",
    "agentlens/urls.py",
    "pyproject.toml",
)
# Registers a definition of each other protocol, and asks the API for what it found.
VISIT = """
import django
django.setup()
from pathlib import Path
from django.contrib.auth import get_user_model
from django.test import Client
from capabilities.parsers import parsers
from catalog import demo

print(sorted(parser.slug for parser in parsers))
print(sum(1 for _ in demo.load()))
client = Client()
client.force_login(get_user_model().objects.create_superuser("owner"))
for path in ("/catalog", "/catalog/capabilities", "/registry", "/api/v1/catalog",
             "/api/v1/capabilities", "/admin/catalog/catalogentry/", "/api/v1/schema"):
    assert client.get(path, headers={"host": "localhost"}).status_code == 200, path
card = Path("peer_card.json").read_bytes()
answer = client.post("/api/v1/catalog/register", card, "application/json",
                     headers={"host": "localhost"})
print(answer.status_code, answer.json()["code"])
"""


@pytest.fixture(scope="module")
def without_agh(tmp_path_factory):
    """The project after AGH's folders and lines were deleted."""
    folder = tmp_path_factory.mktemp("without_agh")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    for name in FOLDERS:
        shutil.rmtree(folder / name)
    (folder / CLIENT).unlink()
    for name in LINES_IN:
        lines = (folder / name).read_text().splitlines(keepends=True)
        kept = [line for line in lines if "agh" not in line.lower()]
        assert len(kept) < len(lines), name
        (folder / name).write_text("".join(kept))
    shutil.copy(ROOT / "tests/data/agh/peer_card.json", folder)
    return folder


def run(folder: Path, *arguments: str) -> str:
    installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    result = subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(installed)),
            "AGENTLENS_DATA_DIR": str(folder / "data"),
            "DJANGO_SETTINGS_MODULE": "agentlens.settings",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_project_without_agh_is_checked_and_migrated(without_agh):
    run(without_agh, "manage.py", "check")
    run(without_agh, "manage.py", "makemigrations", "--check", "--dry-run")


def test_everything_else_works_without_agh(without_agh):
    run(without_agh, "manage.py", "migrate", "--verbosity", "0")

    protocols, demo_agents, refused = run(without_agh, "-c", VISIT).splitlines()

    assert protocols == "['a2a', 'agui', 'config', 'mcp']"
    assert demo_agents == "48"
    assert refused == "422 PROTOCOL_NOT_DETECTED"
