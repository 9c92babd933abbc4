from datetime import UTC, datetime, timedelta

import pytest

from catalog.health.history import History, format_percent, percentile, prune_history
from catalog.health.status import ProbeOutcome, record_probe
from catalog.models import HealthHour, ProbeResult
from tests.factories import CatalogEntryFactory
from tests.probes import failed, well

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def entry():
    return CatalogEntryFactory()


def test_every_probe_is_kept_and_each_hour_counted(entry):
    for probe in (
        well(100, NOON),
        well(300, NOON + MINUTE),
        failed(NOON + 2 * MINUTE),
        well(50, NOON + HOUR),
    ):
        record_probe(entry, probe)

    kept = [(probe.latency_ms, probe.error) for probe in entry.probe_results.all()]
    assert kept == [(50, ""), (None, "HTTP 503"), (300, ""), (100, "")]
    hours = [
        (h.hour, h.probes, h.failures, h.latency_ms) for h in HealthHour.objects.all()
    ]
    assert hours == [(NOON, 3, 1, 200), (NOON + HOUR, 1, 0, 50)]


def test_a_late_result_is_history_all_the_same(entry):
    record_probe(entry, well(100, NOON))
    record_probe(entry, failed(NOON - MINUTE))

    entry.refresh_from_db()
    assert (entry.status, entry.probe_results.count()) == ("active", 2)


def test_old_probes_and_old_hours_are_forgotten(entry):
    for age in (47 * HOUR, 49 * HOUR, 89 * DAY, 91 * DAY):
        record_probe(entry, well(at=NOON - age))

    assert prune_history(NOON) == 4
    assert [p.at for p in ProbeResult.objects.all()] == [NOON - 47 * HOUR]
    assert {h.hour for h in HealthHour.objects.all()} == {
        NOON - 47 * HOUR,
        NOON - 49 * HOUR,
        NOON - 89 * DAY,
    }
    assert prune_history(NOON) == 0


def test_uptime_over_a_day_a_week_and_ninety_days(entry):
    record_probe(entry, well(at=NOON - MINUTE))
    record_probe(entry, failed(NOON - 3 * DAY))
    record_probe(entry, failed(NOON - 30 * DAY))
    record_probe(entry, failed(NOON - 31 * DAY))

    uptime = History.for_entry(entry, NOON).uptime
    assert uptime == {"24h": 1.0, "7d": 0.5, "90d": 0.25}


def test_the_first_hour_counts_as_far_as_it_lies_in_the_time(entry):
    """At half past, half of the hour a day ago is within the day, and half is not."""
    record_probe(entry, failed(NOON - DAY))
    record_probe(entry, well(at=NOON - HOUR))
    now = NOON + 30 * MINUTE

    assert History.for_entry(entry, now).uptime["24h"] == 1 / 1.5


def test_an_agent_that_is_asked_less_while_it_fails_looks_no_better(entry):
    """An hour of a probe a minute, then three hours of one failure each."""
    for minute in range(60):
        record_probe(entry, well(at=NOON + minute * MINUTE))
    for hour in (1, 2, 3):
        record_probe(entry, failed(NOON + hour * HOUR))

    assert History.for_entry(entry, NOON + 4 * HOUR).uptime["24h"] == 0.25


def test_of_the_hour_that_has_begun_only_so_much_counts(entry):
    """One failure in its first minute is not the twenty-fourth part of a day."""
    for hour in range(1, 24):
        record_probe(entry, well(at=NOON - hour * HOUR))
    record_probe(entry, failed(NOON))

    uptime = History.for_entry(entry, NOON + MINUTE).uptime["24h"]
    assert uptime == pytest.approx(1 - (1 / 60) / (23 + 1 / 60))


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (None, "not probed"),
        (0, "0 %"),
        (0.0004, "0.1 %"),
        (0.5, "50 %"),
        (0.9994, "99.9 %"),
        (0.99999, "99.9 %"),
        (1, "100 %"),
    ],
)
def test_a_share_is_never_rounded_to_all_or_nothing(share, told):
    assert format_percent(share) == told


def test_who_is_heard_and_not_asked_has_no_latency(entry):
    record_probe(entry, ProbeOutcome(NOON))

    assert HealthHour.objects.get().latency_ms is None


def test_what_was_never_probed_has_no_uptime_and_no_latency(entry):
    history = History.for_entry(entry, NOON)

    assert history.uptime == {"24h": None, "7d": None, "90d": None}
    assert (history.p50, history.p95) == (None, None)
    assert [day.uptime for day in history.days] == [None] * 90


def test_latency_is_of_the_answers_of_the_last_day(entry):
    record_probe(entry, well(9999, NOON - DAY))
    for n in range(1, 101):
        record_probe(entry, well(n, NOON - n * MINUTE))
    record_probe(entry, failed(NOON))

    history = History.for_entry(entry, NOON)
    assert (history.p50, history.p95, history.failure_count) == (50, 95, 1)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, None),
        ([7], 0.5, 7),
        ([7], 0.99, 7),
        ([1, 2], 0.5, 1),
        ([1, 2, 3], 0.5, 2),
        (list(range(1, 1001)), 0.95, 950),
        (list(range(1, 1001)), 0.99, 990),
    ],
)
def test_percentiles_are_values_that_occurred(values, share, expected):
    assert percentile(values, share) == expected


def test_removing_an_entry_removes_its_history(entry):
    record_probe(entry, well())
    entry.delete()

    assert not ProbeResult.objects.exists()
    assert not HealthHour.objects.exists()
