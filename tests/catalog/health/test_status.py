from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog import search
from catalog.health.probe import ProbeTarget
from catalog.health.status import (
    ProbeOutcome,
    compute_probe_interval,
    next_state,
    record_probe,
    record_probes,
)
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Source, Status
from tests.factories import CatalogEntryFactory, UserFactory
from tests.probes import failure, success

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("probe", "failures", "status", "new_failures"),
    [
        (success(100), 0, Status.ACTIVE, 0),
        (success(1500), 0, Status.ACTIVE, 0),
        (success(1501), 0, Status.DEGRADED, 0),
        (success(100), 7, Status.ACTIVE, 0),
        (failure(), 0, Status.DEGRADED, 1),
        (failure(), 1, Status.DEGRADED, 2),
        (failure(), 2, Status.OFFLINE, 3),
        (failure(), 9, Status.OFFLINE, 10),
    ],
)
def test_next_state_depends_on_latency_and_failures(
    probe, failures, status, new_failures
):
    state = next_state(probe, failures)

    assert (state.status, state.failure_count) == (status, new_failures)


def test_status_and_search_follow_probes():
    entry = CatalogEntryFactory(status=Status.UNKNOWN, offers=["a2a.skill"])
    states = []
    for probe in (success(), failure(), failure(), failure(), success()):
        record_probe(entry, probe)
        entry.refresh_from_db()
        total = search.search_capabilities(search.SearchQuery(), 10).total
        states.append((entry.status, total))

    assert states == [
        (Status.ACTIVE, 1),
        (Status.DEGRADED, 1),
        (Status.DEGRADED, 1),
        (Status.OFFLINE, 0),
        (Status.ACTIVE, 1),
    ]


def test_record_probe_saves_latency_error_and_times():
    entry = CatalogEntryFactory()
    record_probe(entry, success(321))
    record_probe(entry, failure())
    entry.refresh_from_db()

    assert (entry.latency_ms, entry.last_error) == (321, "HTTP 503")
    assert entry.last_success_at < entry.last_probed_at
    assert entry.next_probe_at > timezone.now()


def test_record_probe_remembers_request_that_succeeded_until_a_failure_t2():
    entry, now = CatalogEntryFactory(), timezone.now()
    remembered = []
    outcomes = [
        ProbeOutcome(now, 10, probe_method="discover"),
        ProbeOutcome(now + timedelta(seconds=1), 10, probe_method="ping"),
        failure(now + timedelta(seconds=2)),
    ]
    for outcome in outcomes:
        record_probe(entry, outcome)
        entry.refresh_from_db()
        remembered.append(ProbeTarget.from_entry(entry).probe_method)

    assert remembered == ["discover", "ping", ""]


def test_remembered_requests_are_saved_without_further_queries(
    django_assert_num_queries,
):
    def save(probe_method):
        outcome = ProbeOutcome(timezone.now(), 10, probe_method=probe_method)
        record_probes([(entry, outcome) for entry in entries])

    entries = CatalogEntryFactory.create_batch(5, status=Status.ACTIVE)
    with CaptureQueriesContext(connection) as without_method:
        save("")
    with django_assert_num_queries(len(without_method)):
        save("ping")

    methods = CatalogEntry.objects.values_list("probe_method", flat=True)
    assert set(methods) == {"ping"}


def test_late_result_does_not_overwrite_newer_result():
    entry = CatalogEntryFactory()
    now = timezone.now()
    record_probe(entry, success(at=now))

    assert not record_probe(entry, failure(at=now - timedelta(seconds=5)))
    entry.refresh_from_db()
    assert entry.status == Status.ACTIVE


def test_late_result_does_not_overwrite_later_curation():
    entry = CatalogEntryFactory(status=Status.OFFLINE, consecutive_failures=20)
    probe_start = timezone.now()
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory(role="Editor"))

    assert not record_probe(entry, failure(at=probe_start))
    entry.refresh_from_db()
    assert (entry.status, entry.consecutive_failures) == (Status.ACTIVE, 0)
    assert record_probe(entry, failure())
    entry.refresh_from_db()
    assert entry.status == Status.DEGRADED


def test_next_probe_times_have_jitter(settings):
    settings.AGENTLENS_PROBE_INTERVAL = 1000
    entries = CatalogEntryFactory.create_batch(20)
    record_probes([(entry, success()) for entry in entries])
    now = timezone.now()
    times = CatalogEntry.objects.values_list("next_probe_at", flat=True)
    waits = [(time - now).total_seconds() for time in times]

    assert 890 < min(waits) < max(waits) < 1110
    assert max(waits) - min(waits) > 20


@pytest.mark.parametrize(
    "fields", [{"status": Status.DEPRECATED}, {"source": Source.DEMO}]
)
def test_deprecated_and_demo_entries_ignore_probes(fields):
    entry = CatalogEntryFactory(**fields)
    status = entry.status

    assert not record_probe(entry, failure())
    entry.refresh_from_db()
    assert (entry.status, entry.last_probed_at) == (status, None)


def test_probe_interval_grows_with_failures_up_to_limit(settings):
    settings.AGENTLENS_PROBE_INTERVAL = 60
    minutes = [compute_probe_interval(n).total_seconds() / 60 for n in range(12)]

    assert minutes[:4] == [1, 1, 1, 2]
    assert minutes == sorted(minutes)
    assert minutes[-1] == 60
