"""Reports of callers and the metrics computed from them."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from routing.metrics import (
    WINDOW_SIZE,
    Report,
    RequestOutcome,
    compute_metrics,
    pack_outcomes,
    record_report,
    unpack_outcomes,
)
from routing.models import CapabilityRegistration, RequestSecond
from tests.routing.factories import RegistrationFactory

OUTCOMES = st.lists(
    st.builds(RequestOutcome, st.booleans(), st.none() | st.integers(0, 86_400_000))
)


def reload_with_metrics(registration):
    """Load the registration again, with its state and metrics."""
    return (
        CapabilityRegistration.objects.with_state()
        .with_metrics()
        .get(pk=registration.pk)
    )


def send_report(registration, *outcomes, **gauges):
    return record_report(registration.pk, Report(list(outcomes), gauges))


def reference_percentile(times, percent):
    """Return the smallest time that `percent` of all times do not exceed."""
    times = sorted(times)
    for value in times:
        if sum(other <= value for other in times) * 100 >= percent * len(times):
            return value
    return None


@given(outcomes=OUTCOMES)
def test_packed_outcomes_unpack_unchanged(outcomes):
    assert unpack_outcomes(pack_outcomes(outcomes)) == outcomes
    assert len(pack_outcomes(outcomes)) == 4 * len(outcomes)
    assert unpack_outcomes(memoryview(pack_outcomes(outcomes))) == outcomes


@given(outcomes=OUTCOMES)
def test_metrics_equal_reference_computation(outcomes):
    times = [o.response_time_ms for o in outcomes if o.response_time_ms is not None]
    metrics = compute_metrics(outcomes)

    assert metrics["response_time_p95_ms"] == reference_percentile(times, 95)
    assert metrics["response_time_p99_ms"] == reference_percentile(times, 99)
    if times:
        assert math.isclose(metrics["response_time_avg_ms"], sum(times) / len(times))
    if outcomes:
        success_rate = sum(o.ok for o in outcomes) / len(outcomes)
        assert math.isclose(metrics["success_rate"], success_rate)


def test_metrics_of_no_requests_are_none():
    assert set(compute_metrics([]).values()) == {None}


@pytest.mark.django_db
def test_window_holds_exactly_last_thousand_requests():
    registration = RegistrationFactory()
    send_report(registration, *[RequestOutcome(False, 9_000)] * 5)
    send_report(registration, *[RequestOutcome(True, n) for n in range(1, 999)])
    send_report(registration, RequestOutcome(True, 999))
    current = reload_with_metrics(registration)
    assert unpack_outcomes(current.window) == [RequestOutcome(False, 9_000)] + [
        RequestOutcome(True, n) for n in range(1, 1000)
    ]
    assert current.success_rate == pytest.approx(0.999)

    send_report(registration, RequestOutcome(True, 1000))
    current = reload_with_metrics(registration)
    assert unpack_outcomes(current.window) == [
        RequestOutcome(True, n) for n in range(1, WINDOW_SIZE + 1)
    ]
    assert current.response_time_avg_ms == pytest.approx(500.5)
    assert (current.response_time_p95_ms, current.response_time_p99_ms) == (950, 990)
    assert current.success_rate == 1


@pytest.mark.django_db
def test_requests_without_times_count_only_for_success_rate():
    registration = RegistrationFactory()
    send_report(
        registration,
        RequestOutcome(True),
        RequestOutcome(False),
        RequestOutcome(True),
        RequestOutcome(True),
    )
    current = reload_with_metrics(registration)
    assert (current.response_time_avg_ms, current.response_time_p95_ms) == (None, None)
    assert current.success_rate == 0.75

    send_report(registration, RequestOutcome(True, 30))
    current = reload_with_metrics(registration)
    assert (current.response_time_avg_ms, current.response_time_p99_ms) == (30, 30)
    assert current.success_rate == 0.8


@pytest.mark.django_db
def test_requests_leave_minute_and_hour_counts_with_time():
    registration = RegistrationFactory()
    send_report(
        registration, RequestOutcome(True), RequestOutcome(True), RequestOutcome(False)
    )
    seconds = RequestSecond.objects.filter(registration=registration)
    counts = []
    for ago in (0, 57, 62, 3597, 3602):
        seconds.update(second=int(time.time()) - ago)
        current = reload_with_metrics(registration)
        counts.append((current.requests_last_minute, current.requests_last_hour))

    assert counts == [(3, 3), (3, 3), (0, 3), (0, 3), (0, 0)]


@pytest.mark.django_db
def test_report_deletes_counts_older_than_an_hour():
    registration = RegistrationFactory(requests_total=327)
    now = int(time.time())
    for ago, total in ((9000, 2), (3900, 5), (3700, 7), (3500, 27), (30, 327)):
        registration.request_seconds.create(second=now - ago, total=total)
    send_report(registration, *[RequestOutcome(True)] * 4000)
    current = reload_with_metrics(registration)

    assert (current.requests_last_minute, current.requests_last_hour) == (4300, 4320)
    # Of the older counts only the last remains, as the base of the difference.
    ages = registration.request_seconds.order_by("second")
    assert [now - count.second for count in ages[:3]] == [3700, 3500, 30]
    assert len(ages) == 4


@pytest.mark.django_db
def test_hourly_count_needs_one_query(django_assert_num_queries):
    """The query reads two rows of the busy hour, not one for each second."""
    busy = RegistrationFactory(requests_total=3600)
    now = int(time.time())
    RequestSecond.objects.bulk_create(
        RequestSecond(registration=busy, second=now - ago, total=3600 - ago)
        for ago in range(3600)
    )
    with django_assert_num_queries(1):
        current = reload_with_metrics(busy)

    assert current.requests_last_hour in (3599, 3600)
    assert current.requests_last_minute in (59, 60)


@pytest.mark.django_db
def test_reported_load_expires():
    registration = RegistrationFactory()
    send_report(registration, load_score=0.4, queue_depth=3, concurrent_requests=2)
    current = reload_with_metrics(registration)
    assert (
        current.current_load_score,
        current.queue_depth,
        current.concurrent_requests,
    ) == (
        0.4,
        3,
        2,
    )
    assert current.requests_last_hour == 0

    long_ago = timezone.now() - timedelta(hours=1)
    CapabilityRegistration.objects.update(load_score_at=long_ago)
    current = reload_with_metrics(registration)
    assert (current.current_load_score, current.current_queue_depth) == (None, 3)


@pytest.mark.django_db
def test_empty_report_changes_nothing():
    registration = RegistrationFactory()
    send_report(registration, RequestOutcome(True, 10), load_score=0.5)
    before = CapabilityRegistration.objects.values().get()

    assert send_report(registration)
    assert CapabilityRegistration.objects.values().get() == before


@pytest.mark.django_db
def test_report_for_missing_or_drained_registration_is_rejected():
    assert not record_report("cap-reg-nonsense", Report([RequestOutcome(True)]))
    drained = RegistrationFactory(drain_until=timezone.now())
    assert not send_report(drained, RequestOutcome(True))
    assert not RequestSecond.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_reports_are_all_counted():
    registration = RegistrationFactory()

    def send_reports(caller):
        try:
            for n in range(10):
                send_report(
                    registration,
                    RequestOutcome(True, caller * 100 + n),
                    RequestOutcome(False),
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(send_reports, range(8)))
    current = reload_with_metrics(registration)
    times = [o.response_time_ms for o in unpack_outcomes(current.window) if o.ok]

    assert sorted(times) == sorted(c * 100 + n for c in range(8) for n in range(10))
    assert current.requests_last_hour == 160
    assert current.success_rate == 0.5
