"""Adding a protocol: docs/add-a-protocol.md, followed literally in a copy."""

import re
from pathlib import Path

import pytest

from tests.reuse.project_copy import ROOT, copy_project, run_python

GUIDE = (ROOT / "docs/add-a-protocol.md").read_text()
CREATED_FILE = re.compile(
    r"^Create `([^`]+)`.*?^```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE
)
DIFF = re.compile(r"^```diff\n(.*?)^```", re.DOTALL | re.MULTILINE)
CHANGED_FILE = "capabilities/apps.py"
CREATED_FILES = {
    "capabilities/protocols/weather.py",
    "tests/data/weather/station.json",
    "tests/capabilities/protocols/test_weather.py",
}


def apply_diff(text: str, diff: str) -> str:
    """Return the text with a diff applied; its context must occur exactly once."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, diff
    return text.replace(old, new)


@pytest.fixture(scope="module")
def project_with_weather(tmp_path_factory):
    """Copy the project and make the changes of the guide."""
    folder: Path = tmp_path_factory.mktemp("with_weather")
    copy_project(folder, "tests", "docs")
    for name, content in CREATED_FILE.findall(GUIDE):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    apps_module = folder / CHANGED_FILE
    for diff in DIFF.findall(GUIDE):
        apps_module.write_text(apply_diff(apps_module.read_text(), diff))
    return folder


def test_guide_creates_parser_sample_and_test():
    assert {name for name, _ in CREATED_FILE.findall(GUIDE)} == CREATED_FILES
    assert len(DIFF.findall(GUIDE)) == 2


def test_protocol_tests_from_the_guide_pass(project_with_weather):
    output = run_python(
        project_with_weather,
        *("-m", "pytest", "-p", "no:cacheprovider"),
        "tests/capabilities/protocols/test_weather.py",
    )

    assert "2 passed" in output


def test_project_with_added_protocol_passes_its_checks(project_with_weather):
    run_python(project_with_weather, "manage.py", "check")
    run_python(
        project_with_weather, "manage.py", "makemigrations", "--check", "--dry-run"
    )


def test_regenerated_schema_lists_the_added_protocol(project_with_weather):
    schema = project_with_weather / "docs/openapi.yaml"
    run_python(project_with_weather, "manage.py", "spectacular", "--file", str(schema))

    assert "- weather\n" in schema.read_text()


def test_weather_app_tests_pass_with_the_added_protocol(project_with_weather):
    output = run_python(
        project_with_weather,
        *("-m", "pytest", "-p", "no:cacheprovider", "tests/weather"),
        *("-k", "not guide"),
    )

    assert "passed" in output
