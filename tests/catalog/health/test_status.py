from datetime import timedelta

import pytest
from django.utils import timezone

from catalog import search
from catalog.health.status import (
    next_state,
    probe_interval,
    record_probe,
    record_probes,
)
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Source, Status
from tests.factories import CatalogEntryFactory, UserFactory
from tests.probes import failed, well

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("probe", "failures", "status", "then"),
    [
        (well(100), 0, Status.ACTIVE, 0),
        (well(1500), 0, Status.ACTIVE, 0),
        (well(1501), 0, Status.DEGRADED, 0),
        (well(100), 7, Status.ACTIVE, 0),
        (failed(), 0, Status.DEGRADED, 1),
        (failed(), 1, Status.DEGRADED, 2),
        (failed(), 2, Status.OFFLINE, 3),
        (failed(), 9, Status.OFFLINE, 10),
    ],
)
def test_how_an_agent_is_after_a_probe(probe, failures, status, then):
    state = next_state(probe, failures)

    assert (state.status, state.failures) == (status, then)


def test_going_away_and_coming_back():
    entry = CatalogEntryFactory(status=Status.UNKNOWN, offers=["a2a.skill"])
    seen = []
    for probe in (well(), failed(), failed(), failed(), well()):
        record_probe(entry, probe)
        entry.refresh_from_db()
        listed = search.search_capabilities(search.SearchQuery(), 10).total
        seen.append((entry.status, listed))

    assert seen == [
        (Status.ACTIVE, 1),
        (Status.DEGRADED, 1),
        (Status.DEGRADED, 1),
        (Status.OFFLINE, 0),
        (Status.ACTIVE, 1),
    ]


def test_what_was_learned_is_written_down():
    entry = CatalogEntryFactory()
    record_probe(entry, well(321))
    record_probe(entry, failed())
    entry.refresh_from_db()

    assert (entry.latency_ms, entry.last_error) == (321, "HTTP 503")
    assert entry.last_success_at < entry.last_probed_at
    assert entry.next_probe_at > timezone.now()


def test_a_late_result_never_overwrites_a_newer_one():
    entry = CatalogEntryFactory()
    now = timezone.now()
    record_probe(entry, well(at=now))

    assert not record_probe(entry, failed(at=now - timedelta(seconds=5)))
    entry.refresh_from_db()
    assert entry.status == Status.ACTIVE


def test_a_late_result_never_overwrites_what_a_person_said_since():
    entry = CatalogEntryFactory(status=Status.OFFLINE, consecutive_failures=20)
    begun = timezone.now()
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory(role="Editor"))

    assert not record_probe(entry, failed(at=begun))
    entry.refresh_from_db()
    assert (entry.status, entry.consecutive_failures) == (Status.ACTIVE, 0)
    assert record_probe(entry, failed())
    entry.refresh_from_db()
    assert entry.status == Status.DEGRADED


def test_those_who_were_asked_together_are_not_asked_together_again(settings):
    settings.AGENTLENS_PROBE_INTERVAL = 1000
    entries = CatalogEntryFactory.create_batch(20)
    record_probes([(entry, well()) for entry in entries])
    now = timezone.now()
    times = CatalogEntry.objects.values_list("next_probe_at", flat=True)
    waits = [(at - now).total_seconds() for at in times]

    assert 890 < min(waits) < max(waits) < 1110
    assert max(waits) - min(waits) > 20


@pytest.mark.parametrize(
    "left_alone", [{"status": Status.DEPRECATED}, {"source": Source.DEMO}]
)
def test_what_people_decided_no_probe_changes(left_alone):
    entry = CatalogEntryFactory(**left_alone)
    before = entry.status

    assert not record_probe(entry, failed())
    entry.refresh_from_db()
    assert (entry.status, entry.last_probed_at) == (before, None)


def test_agents_that_fail_are_asked_ever_less_often(settings):
    settings.AGENTLENS_PROBE_INTERVAL = 60
    minutes = [probe_interval(n).total_seconds() / 60 for n in range(12)]

    assert minutes[:4] == [1, 1, 1, 2]
    assert minutes == sorted(minutes)
    assert minutes[-1] == 60
