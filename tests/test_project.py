"""Rules for the files of the project that no linter checks."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE_FILES = [
    path
    for package in ("agentlens", "capabilities", "catalog", "routing", "tests")
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
]
APPLICATION_FILES = [
    path for path in SOURCE_FILES if ROOT / "tests" not in path.parents
]
MAX_FUNCTION_LINES = 80
# One per management command, and one per protocol.
REPEATED_NAMES = {"Command", "KINDS"}


def iter_functions(path: Path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize(
    "path", SOURCE_FILES, ids=lambda path: str(path.relative_to(ROOT))
)
def test_functions_are_short(path):
    too_long = [
        node.name
        for node in iter_functions(path)
        if node.end_lineno - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert not too_long


def group_definitions() -> dict[str, set[str]]:
    """Return where each class and what value each constant of a module has."""
    definitions = defaultdict(set)
    for path in APPLICATION_FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                definitions[node.name].add(str(path.relative_to(ROOT)))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                definitions[node.targets[0].id].add(ast.unparse(node.value))
    return definitions


def test_class_and_constant_names_have_one_meaning():
    repeated = {
        name: values
        for name, values in group_definitions().items()
        # Type variables have one letter; other lower-case names are not constants.
        if len(values) > 1 and len(name) > 1 and name[0].isupper()
    }

    assert set(repeated) == REPEATED_NAMES


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_lock_file_has_hashes_and_no_urls(name):
    text = (ROOT / name).read_text()

    assert "--hash=sha256:" in text
    assert "://" not in text


def test_development_lock_contains_production_lock():
    def read_pins(name):
        lines = (ROOT / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if line[:1].isalnum()}

    assert read_pins("requirements.lock") <= read_pins("requirements-dev.lock")
