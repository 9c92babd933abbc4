"""Uptime by time: each outcome counts until the next one."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.health.history import History, compute_uptimes
from catalog.health.scheduler import CatalogEntryTargets
from catalog.health.status import (
    ProbeOutcome,
    compute_probe_interval,
    record_probe,
    record_probes,
)
from catalog.ingestion.curation import curate
from catalog.models import HealthHour, ProbeResult, Status
from tests.factories import CatalogEntryFactory, UserFactory
from tests.probes import failure, success

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def clock(monkeypatch):
    """Set the time of the application: the only item of the returned list."""
    moments = [NOON]
    monkeypatch.setattr(timezone, "now", lambda: moments[0])
    return moments


@pytest.fixture(autouse=True)
def round_intervals(settings):
    """Let an outcome count 205 s at most, before the intervals of an outage."""
    settings.AGENTLENS_PROBE_INTERVAL = 100.0
    settings.AGENTLENS_PROBE_LEASE = 90.0
    settings.AGENTLENS_PROBE_TIMEOUT = 5.0


def probe_as_planned(entry, clock, until, is_up):
    """Probe an entry whenever it is due, until a moment."""
    while clock[0] < until:
        outcome = success(at=clock[0]) if is_up(clock[0]) else failure(clock[0])
        record_probe(entry, outcome)
        entry.refresh_from_db()
        clock[0] = min(entry.next_probe_at, until)


def get_uptime(entry, now, period="24h"):
    entry.refresh_from_db()
    return History.for_entry(entry, now).uptime[period]


@pytest.mark.parametrize("start", [NOON, NOON + 50 * MINUTE])
def test_uptime_of_server_dead_for_half_the_time_is_true_t3(
    entry, clock, settings, start
):
    settings.AGENTLENS_PROBE_INTERVAL = 10.0
    clock[0], end = start, start + 28 * MINUTE
    probe_as_planned(entry, clock, end, lambda now: now < start + 13 * MINUTE)
    uptimes = History.for_entry(entry, end).uptime

    successes = entry.probe_results.filter(error="").count()
    assert successes / entry.probe_results.count() > 0.85
    for uptime in uptimes.values():
        assert uptime == pytest.approx(13 / 28, abs=0.02)
    assert compute_uptimes([entry], DAY)[entry.pk] == uptimes["24h"]


def test_uptime_of_week_is_the_same_without_single_probes(entry, clock):
    dead = (NOON + 3 * HOUR, NOON + 5 * HOUR)
    end = NOON + 8 * HOUR
    probe_as_planned(entry, clock, end, lambda now: not dead[0] <= now < dead[1])
    uptime = get_uptime(entry, end, "7d")
    ProbeResult.objects.all().delete()

    assert get_uptime(entry, end, "7d") == uptime
    # The recovery is noticed at the next probe, within an hour.
    assert 1 - 3 / 8 - 0.02 <= uptime <= 1 - 2 / 8 + 0.02


def test_time_without_prober_is_unknown(entry, clock):
    probe_as_planned(entry, clock, NOON + HOUR, lambda now: True)
    clock[0] = NOON + 4 * HOUR
    down_since = clock[0]
    probe_as_planned(entry, clock, down_since + HOUR, lambda now: False)
    history = History.for_entry(entry, clock[0])

    known = history.known_times["24h"]
    assert known.up == pytest.approx(3600, abs=206)
    assert known.down == pytest.approx(3600, abs=1)
    assert history.monitored["24h"] == pytest.approx(known.total / 86_400)
    by_hour = {
        sample.hour: sample.time_between(NOON, NOON + DAY).total
        for sample in history.hours
    }
    assert NOON + 2 * HOUR not in by_hour
    assert NOON + 3 * HOUR not in by_hour


def test_time_since_last_probe_counts_until_probe_is_overdue(entry):
    record_probe(entry, success(at=NOON))
    entry.refresh_from_db()

    known_after = {
        seconds: History.for_entry(entry, NOON + seconds * SECOND).known_times["24h"].up
        for seconds in (0, 10, 205, 206, 7200)
    }
    assert known_after == {0: 0, 10: 10, 205: 205, 206: 205, 7200: 205}
    assert get_uptime(entry, NOON) is None
    assert get_uptime(entry, NOON + SECOND) == 1.0
    assert get_uptime(entry, NOON + 2 * DAY) is None


def test_time_of_outcome_is_split_at_hours(entry):
    record_probe(entry, failure(NOON - 30 * SECOND))
    record_probe(entry, success(at=NOON + 70 * SECOND))
    record_probe(entry, success(at=NOON + 80 * SECOND))

    hours = HealthHour.objects.values_list(
        "hour", "probes", "up_seconds", "down_seconds"
    )
    assert list(hours) == [(NOON - HOUR, 1, 0, 30), (NOON, 2, 10, 70)]


def test_hour_within_a_pause_counts_without_a_probe(entry):
    for n in range(8):
        record_probe(entry, failure(NOON + n * SECOND))
    record_probe(entry, success(at=NOON + 62 * MINUTE))
    entry.refresh_from_db()

    history = History.for_entry(entry, NOON + 62 * MINUTE)
    assert get_uptime(entry, NOON + 62 * MINUTE) == 0.0
    assert [hour.probes for hour in history.last_week] == [8, 1]
    assert HealthHour.objects.get(hour=NOON + HOUR).down_seconds == 120


def test_late_result_does_not_change_uptime(entry):
    record_probe(entry, success(at=NOON))
    record_probe(entry, success(at=NOON + MINUTE))
    record_probe(entry, failure(NOON + 30 * SECOND))
    record_probe(entry, failure(NOON - 30 * SECOND))

    assert get_uptime(entry, NOON + 2 * MINUTE) == 1.0


def test_time_after_manual_change_of_status_is_unknown(entry, clock):
    """An agent that was offline does not count as up once an editor reactivates it."""
    for n in range(3):
        record_probe(entry, failure(NOON + n * SECOND))
    editor = UserFactory(role="Editor")
    clock[0] = NOON + 102 * SECOND
    curate(entry, {"status": Status.DEPRECATED}, by=editor)
    clock[0] = NOON + HOUR
    curate(entry, {"status": Status.ACTIVE}, by=editor)
    clock[0] = NOON + HOUR + MINUTE
    record_probe(entry, success(at=clock[0]))
    entry.refresh_from_db()

    known = History.for_entry(entry, clock[0] + 2 * SECOND).known_times["24h"]
    assert (known.up, known.down) == (2, 102)


def test_announcement_counts_until_it_expires(entry):
    record_probe(entry, ProbeOutcome(NOON, valid_until=NOON + 30 * SECOND))
    record_probe(entry, ProbeOutcome(NOON + 20 * SECOND, valid_until=NOON + MINUTE))
    record_probe(entry, failure(NOON + 70 * SECOND))
    entry.refresh_from_db()

    known = History.for_entry(entry, NOON + 80 * SECOND).known_times["24h"]
    assert (known.up, known.down) == (60, 10)


def test_postponed_probe_prolongs_last_outcome_until_overdue(entry, clock):
    record_probe(entry, failure(NOON))
    targets = CatalogEntryTargets()
    clock[0] = NOON + 100 * SECOND
    targets.postpone(entry, clock[0] + HOUR)
    clock[0] += HOUR

    assert get_uptime(entry, clock[0]) == 0.0
    assert History.for_entry(entry, clock[0]).known_times["24h"].down == 3700


def test_probe_postponed_when_overdue_leaves_gap_unknown(entry, clock):
    record_probe(entry, failure(NOON))
    clock[0] = NOON + 3 * HOUR
    CatalogEntryTargets().postpone(entry, clock[0] + MINUTE)
    entry.refresh_from_db()

    assert History.for_entry(entry, clock[0]).known_times["24h"].down == 205


def test_recording_needs_constant_number_of_history_queries():
    def count_queries(entry_count):
        entries = CatalogEntryFactory.create_batch(entry_count, status=Status.ACTIVE)
        record_probes([(entry, success(at=NOON)) for entry in entries])
        with CaptureQueriesContext(
            connection,
        ) as queries:
            record_probes([(entry, success(at=NOON + HOUR)) for entry in entries])
        # The entries themselves are saved one by one.
        return len(queries) - entry_count

    assert count_queries(1) == count_queries(15)


def test_hours_without_measured_time_are_estimated_from_counts(entry):
    HealthHour.objects.create(entry=entry, hour=NOON - HOUR, probes=4, failures=1)
    HealthHour.objects.create(
        entry=entry, hour=NOON, probes=9, up_seconds=900, down_seconds=0
    )

    now = NOON + 15 * MINUTE
    assert get_uptime(entry, now) == pytest.approx((2700 + 900) / 4500)
    # Of the earliest hour, only the part within the period counts.
    assert get_uptime(entry, now + 23 * HOUR) == pytest.approx(
        (2700 * 0.75 + 900) / (3600 * 0.75 + 900)
    )


def compute_reference(outcomes, end, step):
    """Return the seconds up and down by date, by looking at each moment."""
    failures, times = 0, defaultdict(lambda: [0, 0])
    limits = []
    for at, ok in outcomes:
        failures = 0 if ok else failures + 1
        pause = compute_probe_interval(failures).total_seconds() * 1.1 + 95
        limits.append(at + timedelta(seconds=pause))
    for (at, ok), limit, following in zip(
        outcomes, limits, [*(at for at, _ in outcomes[1:]), end], strict=True
    ):
        moment = at
        while moment < min(limit, following):
            times[moment.date()][not ok] += step.total_seconds()
            moment += step
    return times


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    outcomes=st.lists(
        st.tuples(st.integers(1, 3 * 720), st.booleans(), st.booleans()),
        min_size=1,
        max_size=12,
    ),
    start=st.integers(0, 17_279),
    rest=st.integers(1, 1440),
)
def test_uptime_equals_plain_computation(entry, outcomes, start, rest):
    step = 5 * SECOND
    now = NOON + start * step
    counted = []
    with transaction.atomic():
        for gap, ok, is_late in outcomes:
            now += gap * step
            record_probe(entry, success(at=now) if ok else failure(now))
            if is_late:
                record_probe(entry, failure(now - step))
            counted.append((now, ok))
        end = now + rest * step
        entry.refresh_from_db()
        history = History.for_entry(entry, end)
        transaction.set_rollback(True)

    expected = compute_reference(counted, end, step)
    up, down = (sum(times[n] for times in expected.values()) for n in (0, 1))
    for period in ("7d", "90d"):
        assert history.known_times[period].up == pytest.approx(up)
        assert history.known_times[period].down == pytest.approx(down)
    uptimes = {day.date: day.uptime for day in history.days if day.uptime is not None}
    assert uptimes == {
        date: pytest.approx(up / (up + down)) for date, (up, down) in expected.items()
    }
