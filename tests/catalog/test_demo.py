from collections import Counter
from itertools import takewhile

import pytest

from capabilities.parsers import parsers
from catalog import demo
from catalog.health.history import History
from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    ProbeResult,
    Provider,
    Source,
    Status,
)
from catalog.registration.service import register
from tests.factories import card_bytes

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo_entries():
    return list(demo.load())


def test_demo_has_fifty_agents_of_every_status_and_protocol(demo_entries):
    entries = CatalogEntry.objects.filter(source=Source.DEMO)
    protocols = entries.values_list("agent_type__protocol", flat=True)

    assert len(demo_entries) == entries.count() == 50
    assert set(entries.values_list("status", flat=True)) == set(Status.values)
    assert set(protocols) == {parser.slug for parser in parsers}


def test_demo_agents_share_capabilities(demo_entries):
    current = Capability.objects.filter(agent_type__entry__isnull=False)
    counts = Counter(current.values_list("kind", "name"))

    assert counts["a2a.skill", "Translate text"] == 6
    assert counts["mcp.tool", "search_documents"] == 4


def test_some_demo_agents_have_two_different_versions(demo_entries):
    versions = Counter(AgentType.objects.values_list("agent_key", flat=True))
    changed = [entry for entry in demo_entries if entry.changes.exists()]

    assert sum(count == 2 for count in versions.values()) == len(changed) >= 4


def test_demo_names_have_letters_of_several_scripts(demo_entries):
    names = " ".join(entry.display_name for entry in demo_entries)

    assert all(letter in names for letter in "Łßエ")


def test_loading_demo_again_keeps_entries_and_changes(demo_entries):
    changes = DefinitionChange.objects.count()
    list(demo.load())

    assert CatalogEntry.objects.count() == len(demo_entries)
    assert DefinitionChange.objects.count() == changes


def test_removing_demo_keeps_other_entries(demo_entries):
    other = register(card_bytes()).entry
    count = demo.remove()

    assert count == len(demo_entries)
    assert set(CatalogEntry.objects.all()) == {other}
    assert set(Provider.objects.all()) == {other.agent_type.provider}


def test_demo_history_matches_current_state(demo_entries):
    probed = CatalogEntry.objects.filter(last_probed_at__isnull=False)
    for entry in probed:
        history = History.for_entry(entry)
        assert history.uptime["7d"] is not None
        latest_failures = takewhile(lambda probe: not probe.ok, history.probes)
        assert len(list(latest_failures)) == entry.consecutive_failures, entry


def test_loading_demo_again_does_not_duplicate_history(demo_entries):
    count = ProbeResult.objects.count()
    list(demo.load())

    assert ProbeResult.objects.count() == count
