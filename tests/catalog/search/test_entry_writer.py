"""All changes of entries go through the entry writer."""

import ast
from pathlib import Path

import pytest

from catalog.models import CatalogEntry, SearchRow, Status
from catalog.search.entry_writer import build_state_changed, save_entry
from tests.factories import CapabilityFactory, CatalogEntryFactory

ROOT = Path(__file__).parents[3]
PACKAGES = ("agentlens", "capabilities", "catalog", "routing")
ENTRY_COLUMNS = {field.name for field in CatalogEntry._meta.concrete_fields}
# Columns that schedule work; they are neither searched nor published.
SCHEDULE_COLUMNS = {
    "next_probe_at",
    "next_refresh_at",
    "probe_requested_at",
    "definition_problem",
    "outcome_counts_until",
}
# Columns that agent types have, too.
AGENT_TYPE_COLUMNS = {"agent_key"}


def find_callers(name: str) -> list[str]:
    """Return the path of the calling module for each call of a function."""
    return [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and get_called_name(node) == name
    ]


def get_called_name(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def test_index_entries_is_called_only_by_entry_writer_and_rebuild():
    writer = "catalog/search/entry_writer.py"

    assert find_callers("index_entries") == [*[writer] * 3, "catalog/search/indexer.py"]


def test_save_functions_are_called_only_by_modules_that_change_entries():
    assert find_callers("save_entry") == [
        "catalog/demo/__init__.py",
        "catalog/ingestion/curation.py",
        "catalog/ingestion/identity.py",
        *["catalog/ingestion/writer.py"] * 2,
        "catalog/registration/export.py",
    ]
    assert find_callers("save_seen") == ["catalog/ingestion/writer.py"] * 2
    assert find_callers("save_states") == ["catalog/health/status.py"] * 2
    assert find_callers("save_provider") == ["catalog/admin/providers.py"]


def test_queryset_updates_of_entries_set_only_schedule_columns():
    """Searched and displayed columns change only in the entry writer."""
    updated_columns = {
        keyword.arg
        for package in ("agentlens", "catalog", "routing")
        for path in (ROOT / package).rglob("*.py")
        if path.name != "entry_writer.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and get_called_name(node) == "update"
        for keyword in node.keywords
        if keyword.arg in ENTRY_COLUMNS
    }

    assert updated_columns <= SCHEDULE_COLUMNS | AGENT_TYPE_COLUMNS


@pytest.mark.django_db
def test_save_entry_indexes_entry_and_publishes_events(
    django_capture_on_commit_callbacks,
):
    entry = CatalogEntryFactory(status=Status.OFFLINE)
    CapabilityFactory(agent_type=entry.agent_type, name="Dig")
    before, entry.status = entry.status, Status.ACTIVE

    with django_capture_on_commit_callbacks() as published:
        save_entry(entry, build_state_changed(entry, before))

    assert SearchRow.objects.get().name == "dig"
    assert len(published) == 1
