"""Rules about the project's own files, which no other tool watches."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for package in ("agentlens", "capabilities", "catalog", "routing", "tests")
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
]
LINES_LIMIT = 80


def functions(path: Path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_are_short(path):
    long = [
        node.name
        for node in functions(path)
        if node.end_lineno - node.lineno >= LINES_LIMIT
    ]
    assert not long


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_locks_are_hashed_and_name_no_place(name):
    text = (ROOT / name).read_text()

    assert "--hash=sha256:" in text
    assert "://" not in text


def test_the_development_lock_holds_what_runs_in_production():
    def pins(name):
        lines = (ROOT / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if line[:1].isalnum()}

    assert pins("requirements.lock") <= pins("requirements-dev.lock")
