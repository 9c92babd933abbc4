from datetime import UTC, datetime, timedelta

import pytest

from catalog.health.history import (
    History,
    compute_percentile,
    format_percent,
    prune_history,
)
from catalog.health.status import ProbeOutcome, record_probe
from catalog.models import HealthHour, ProbeResult
from tests.probes import failure, success

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def test_record_probe_stores_every_probe_and_hourly_counts(entry):
    for probe in (
        success(100, NOON),
        success(300, NOON + MINUTE),
        failure(NOON + 2 * MINUTE),
        success(50, NOON + HOUR),
    ):
        record_probe(entry, probe)

    stored = [(probe.latency_ms, probe.error) for probe in entry.probe_results.all()]
    assert stored == [(50, ""), (None, "HTTP 503"), (300, ""), (100, "")]
    hours = [
        (hour.hour, hour.probes, hour.failures, hour.latency_ms)
        for hour in HealthHour.objects.all()
    ]
    assert hours == [(NOON, 3, 1, 200), (NOON + HOUR, 1, 0, 50)]


def test_late_result_is_stored_without_changing_status(entry):
    record_probe(entry, success(100, NOON))
    record_probe(entry, failure(NOON - MINUTE))

    entry.refresh_from_db()
    assert (entry.status, entry.probe_results.count()) == ("active", 2)


def test_prune_history_deletes_old_probes_and_hours(entry):
    for age in (47 * HOUR, 49 * HOUR, 89 * DAY, 91 * DAY):
        record_probe(entry, success(at=NOON - age))

    assert prune_history(NOON) == 4
    assert [probe.at for probe in ProbeResult.objects.all()] == [NOON - 47 * HOUR]
    assert {hour.hour for hour in HealthHour.objects.all()} == {
        NOON - 47 * HOUR,
        NOON - 49 * HOUR,
        NOON - 89 * DAY,
    }
    assert prune_history(NOON) == 0


def test_uptime_covers_day_week_and_ninety_days(entry):
    for age in (31 * DAY, 30 * DAY, 3 * DAY):
        record_probe(entry, failure(NOON - age))
    record_probe(entry, success(at=NOON - HOUR))
    entry.refresh_from_db()

    uptime = History.for_entry(entry, NOON).uptime
    known = History.for_entry(entry, NOON).known_times
    assert uptime["24h"] == 1.0
    assert 0 < uptime["90d"] < uptime["7d"] < 1
    assert known["24h"].up == known["7d"].up == known["90d"].up
    assert known["90d"].down > 2 * known["7d"].down > 0


def test_uptime_weights_first_hour_by_its_share_of_the_period(entry):
    """At 12:30, half of yesterday's 12:00 hour is within the last 24 hours."""
    HealthHour.objects.create(
        entry=entry, hour=NOON - DAY, probes=60, up_seconds=0, down_seconds=3600
    )
    HealthHour.objects.create(
        entry=entry, hour=NOON - HOUR, probes=60, up_seconds=3600, down_seconds=0
    )
    now = NOON + 30 * MINUTE

    assert History.for_entry(entry, now).uptime["24h"] == 1 / 1.5


@pytest.mark.parametrize(
    ("share", "expected"),
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
def test_format_percent_never_rounds_to_0_or_100(share, expected):
    assert format_percent(share) == expected


def test_probe_without_latency_stores_none(entry):
    record_probe(entry, ProbeOutcome(NOON))

    assert HealthHour.objects.get().latency_ms is None


def test_history_without_probes_has_no_uptime_and_latency(entry):
    history = History.for_entry(entry, NOON)

    assert history.uptime == {"24h": None, "7d": None, "90d": None}
    assert (history.p50, history.p95) == (None, None)
    assert [day.uptime for day in history.days] == [None] * 90


def test_latency_percentiles_cover_successes_of_last_day(entry):
    record_probe(entry, success(9999, NOON - DAY))
    for n in range(1, 101):
        record_probe(entry, success(n, NOON - n * MINUTE))
    record_probe(entry, failure(NOON))

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
def test_percentile_returns_an_observed_value(values, share, expected):
    assert compute_percentile(values, share) == expected


def test_deleting_entry_deletes_its_history(entry):
    record_probe(entry, success())
    entry.delete()

    assert not ProbeResult.objects.exists()
    assert not HealthHour.objects.exists()
