"""Everything that changes an entry goes through one service."""

import ast
from pathlib import Path

import pytest

from catalog.models import CatalogEntry, SearchRow, Status
from catalog.search.entry_writer import build_state_changed, save_entry
from tests.factories import CapabilityFactory, CatalogEntryFactory

ROOT = Path(__file__).parents[3]
PACKAGES = ("agentlens", "capabilities", "catalog", "routing")
ENTRY_COLUMNS = {field.name for field in CatalogEntry._meta.concrete_fields}
# They only schedule work, and are neither searched nor published.
SCHEDULE = {"next_probe_at", "next_refresh_at", "asked_at", "definition_problem"}


def calls(name: str) -> list[str]:
    """The modules, other than where it is defined, that call a function."""
    return [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and called_name(node) == name
    ]


def called_name(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def test_indexer_is_called_by_the_entry_writer_and_the_rebuild_alone():
    writer = "catalog/search/entry_writer.py"

    assert calls("index_entries") == [*[writer] * 3, "catalog/search/indexer.py"]


def test_saving_services_are_called_by_those_who_change_entries_alone():
    assert calls("save_entry") == [
        "catalog/demo/__init__.py",
        "catalog/ingestion/curation.py",
        *["catalog/ingestion/writer.py"] * 2,
        "catalog/registration/export.py",
    ]
    assert calls("save_seen") == ["catalog/ingestion/writer.py"] * 2
    assert calls("save_states") == ["catalog/health/status.py"]
    assert calls("save_provider") == ["catalog/admin/providers.py"]


def test_entries_are_updated_around_the_writer_only_to_schedule_work():
    """A query that updates entries names no column that is searched or shown."""
    named = {
        keyword.arg
        for package in ("agentlens", "catalog", "routing")
        for path in (ROOT / package).rglob("*.py")
        if path.name != "entry_writer.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and called_name(node) == "update"
        for keyword in node.keywords
        if keyword.arg in ENTRY_COLUMNS
    }

    assert named <= SCHEDULE


@pytest.mark.django_db
def test_saved_entry_is_indexed_and_its_events_are_published(
    django_capture_on_commit_callbacks,
):
    entry = CatalogEntryFactory(status=Status.OFFLINE)
    CapabilityFactory(agent_type=entry.agent_type, name="Dig")
    before, entry.status = entry.status, Status.ACTIVE

    with django_capture_on_commit_callbacks() as published:
        save_entry(entry, build_state_changed(entry, before))

    assert SearchRow.objects.get().name == "dig"
    assert len(published) == 1
