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
def loaded():
    return list(demo.load())


def test_it_has_fifty_agents_of_every_status_and_protocol(loaded):
    entries = CatalogEntry.objects.filter(source=Source.DEMO)
    protocols = entries.values_list("agent_type__protocol", flat=True)

    assert len(loaded) == entries.count() == 50
    assert set(entries.values_list("status", flat=True)) == set(Status.values)
    assert set(protocols) == {parser.slug for parser in parsers}


def test_capabilities_overlap(loaded):
    current = Capability.objects.filter(agent_type__entry__isnull=False)
    offered = Counter(current.values_list("kind", "name"))

    assert offered["a2a.skill", "Translate text"] == 6
    assert offered["mcp.tool", "search_documents"] == 4


def test_some_agents_have_two_versions_that_differ(loaded):
    versions = Counter(AgentType.objects.values_list("agent_key", flat=True))
    changed = [entry for entry in loaded if entry.changes.exists()]

    assert sum(count == 2 for count in versions.values()) == len(changed) >= 4


def test_names_are_in_several_languages(loaded):
    names = " ".join(entry.display_name for entry in loaded)

    assert all(letter in names for letter in "Łßエ")


def test_loading_twice_is_loading_once(loaded):
    changes = DefinitionChange.objects.count()
    list(demo.load())

    assert CatalogEntry.objects.count() == len(loaded)
    assert DefinitionChange.objects.count() == changes


def test_removing_leaves_what_is_not_demo(loaded):
    own = register(card_bytes()).entry
    count = demo.remove()

    assert count == len(loaded)
    assert set(CatalogEntry.objects.all()) == {own}
    assert set(Provider.objects.all()) == {own.agent_type.provider}


def test_the_past_of_a_demo_agent_leads_to_how_it_is(loaded):
    probed = CatalogEntry.objects.filter(last_probed_at__isnull=False)
    for entry in probed:
        history = History.for_entry(entry)
        assert history.uptime["7d"] is not None
        in_a_row = takewhile(lambda probe: not probe.ok, history.probes)
        assert len(list(in_a_row)) == entry.consecutive_failures, entry


def test_loading_again_invents_the_past_anew_and_not_twice(loaded):
    count = ProbeResult.objects.count()
    list(demo.load())

    assert ProbeResult.objects.count() == count
