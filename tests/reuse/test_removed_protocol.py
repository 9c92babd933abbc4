"""Removing a protocol as docs/architecture.md describes: delete folders and lines."""

import shutil

import pytest

from tests.reuse.project_copy import ROOT, copy_project, run_python

AGH_FOLDERS = ("capabilities/protocols/agh", "catalog/integrations/agh")
AGH_CLIENT = "capabilities/clients/agh.py"
FILES_WITH_AGH_LINES = (
    "capabilities/apps.py",
    "agentlens/settings.py",
    "agentlens/urls.py",
    "pyproject.toml",
)
# Loads the demo catalog, opens pages and registers an AGH peer card.
SMOKE_TEST_SCRIPT = """
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
response = client.post("/api/v1/catalog/register", card, "application/json",
                       headers={"host": "localhost"})
print(response.status_code, response.json()["code"])
"""


@pytest.fixture(scope="module")
def project_without_agh(tmp_path_factory):
    """Copy the project without the folders and lines of AGH."""
    folder = tmp_path_factory.mktemp("without_agh")
    copy_project(folder)
    for name in AGH_FOLDERS:
        shutil.rmtree(folder / name)
    (folder / AGH_CLIENT).unlink()
    for name in FILES_WITH_AGH_LINES:
        lines = (folder / name).read_text().splitlines(keepends=True)
        remaining = [line for line in lines if "agh" not in line.lower()]
        assert len(remaining) < len(lines), name
        (folder / name).write_text("".join(remaining))
    shutil.copy(ROOT / "tests/data/agh/peer_card.json", folder)
    return folder


def test_project_without_agh_passes_system_and_migration_checks(project_without_agh):
    run_python(project_without_agh, "manage.py", "check")
    run_python(
        project_without_agh, "manage.py", "makemigrations", "--check", "--dry-run"
    )


def test_other_protocols_work_without_agh(project_without_agh):
    run_python(project_without_agh, "manage.py", "migrate", "--verbosity", "0")

    protocols, demo_agents, response = run_python(
        project_without_agh, "-c", SMOKE_TEST_SCRIPT
    ).splitlines()

    assert protocols == "['a2a', 'agui', 'config', 'mcp']"
    assert demo_agents == "48"
    assert response == "422 PROTOCOL_NOT_DETECTED"
