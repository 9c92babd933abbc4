"""What callers report, and the figures it makes: exact, and nothing lost."""

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


def known(registration):
    """As everybody reads it: with its figures."""
    return (
        CapabilityRegistration.objects.with_state()
        .with_metrics()
        .get(pk=registration.pk)
    )


def report(registration, *outcomes, **gauges):
    return record_report(registration.pk, Report(list(outcomes), gauges))


def reference(times, percent):
    """The smallest that so many percent of all do not exceed."""
    times = sorted(times)
    for value in times:
        if sum(other <= value for other in times) * 100 >= percent * len(times):
            return value
    return None


@given(outcomes=OUTCOMES)
def test_what_is_packed_comes_out_as_it_was(outcomes):
    assert unpack_outcomes(pack_outcomes(outcomes)) == outcomes
    assert len(pack_outcomes(outcomes)) == 4 * len(outcomes)
    assert unpack_outcomes(memoryview(pack_outcomes(outcomes))) == outcomes


@given(outcomes=OUTCOMES)
def test_figures_are_those_of_a_plain_count(outcomes):
    times = [o.response_time_ms for o in outcomes if o.response_time_ms is not None]
    told = compute_metrics(outcomes)

    assert told["response_time_p95_ms"] == reference(times, 95)
    assert told["response_time_p99_ms"] == reference(times, 99)
    if times:
        assert math.isclose(told["response_time_avg_ms"], sum(times) / len(times))
    if outcomes:
        right = sum(o.ok for o in outcomes) / len(outcomes)
        assert math.isclose(told["success_rate"], right)


def test_of_no_requests_nothing_can_be_told():
    assert set(compute_metrics([]).values()) == {None}


@pytest.mark.django_db
def test_the_figures_are_over_exactly_the_last_thousand():
    registration = RegistrationFactory()
    report(registration, *[RequestOutcome(False, 9_000)] * 5)
    report(registration, *[RequestOutcome(True, n) for n in range(1, 999)])
    report(registration, RequestOutcome(True, 999))
    one = known(registration)
    assert unpack_outcomes(one.window) == [RequestOutcome(False, 9_000)] + [
        RequestOutcome(True, n) for n in range(1, 1000)
    ]
    assert one.success_rate == pytest.approx(0.999)

    report(registration, RequestOutcome(True, 1000))
    one = known(registration)
    assert unpack_outcomes(one.window) == [
        RequestOutcome(True, n) for n in range(1, WINDOW_SIZE + 1)
    ]
    assert one.response_time_avg_ms == pytest.approx(500.5)
    assert (one.response_time_p95_ms, one.response_time_p99_ms) == (950, 990)
    assert one.success_rate == 1


@pytest.mark.django_db
def test_requests_without_times_count_for_success_alone():
    registration = RegistrationFactory()
    report(
        registration,
        RequestOutcome(True),
        RequestOutcome(False),
        RequestOutcome(True),
        RequestOutcome(True),
    )
    one = known(registration)
    assert (one.response_time_avg_ms, one.response_time_p95_ms) == (None, None)
    assert one.success_rate == 0.75

    report(registration, RequestOutcome(True, 30))
    one = known(registration)
    assert (one.response_time_avg_ms, one.response_time_p99_ms) == (30, 30)
    assert one.success_rate == 0.8


@pytest.mark.django_db
def test_requests_leave_the_minute_and_then_the_hour():
    registration = RegistrationFactory()
    report(
        registration, RequestOutcome(True), RequestOutcome(True), RequestOutcome(False)
    )
    seconds = RequestSecond.objects.filter(registration=registration)
    counts = []
    for ago in (0, 57, 62, 3597, 3602):
        seconds.update(second=int(time.time()) - ago)
        one = known(registration)
        counts.append((one.requests_last_minute, one.requests_last_hour))

    assert counts == [(3, 3), (3, 3), (0, 3), (0, 3), (0, 0)]


@pytest.mark.django_db
def test_a_new_report_forgets_counts_of_more_than_an_hour_ago():
    registration = RegistrationFactory(requests_total=327)
    now = int(time.time())
    for ago, total in ((9000, 2), (3900, 5), (3700, 7), (3500, 27), (30, 327)):
        registration.request_seconds.create(second=now - ago, total=total)
    report(registration, *[RequestOutcome(True)] * 4000)
    one = known(registration)

    assert (one.requests_last_minute, one.requests_last_hour) == (4300, 4320)
    # Of what is older, only the last: all else is counted from it.
    ages = registration.request_seconds.order_by("second")
    assert [now - kept.second for kept in ages[:3]] == [3700, 3500, 30]
    assert len(ages) == 4


@pytest.mark.django_db
def test_counting_an_hour_of_reports_looks_at_two_of_them(django_assert_num_queries):
    """However many there are: a second each, or one in all."""
    busy = RegistrationFactory(requests_total=3600)
    now = int(time.time())
    RequestSecond.objects.bulk_create(
        RequestSecond(registration=busy, second=now - ago, total=3600 - ago)
        for ago in range(3600)
    )
    with django_assert_num_queries(1):
        one = known(busy)

    assert one.requests_last_hour in (3599, 3600)
    assert one.requests_last_minute in (59, 60)


@pytest.mark.django_db
def test_what_is_said_of_the_load_holds_a_while():
    registration = RegistrationFactory()
    report(registration, load_score=0.4, queue_depth=3, concurrent_requests=2)
    one = known(registration)
    assert (one.load, one.queue_depth, one.concurrent_requests) == (0.4, 3, 2)
    assert one.requests_last_hour == 0

    long_ago = timezone.now() - timedelta(hours=1)
    CapabilityRegistration.objects.update(load_score_at=long_ago)
    one = known(registration)
    assert (one.load, one.gauge("queue_depth")) == (None, 3)


@pytest.mark.django_db
def test_an_empty_report_changes_nothing():
    registration = RegistrationFactory()
    report(registration, RequestOutcome(True, 10), load_score=0.5)
    before = CapabilityRegistration.objects.values().get()

    assert report(registration)
    assert CapabilityRegistration.objects.values().get() == before


@pytest.mark.django_db
def test_nobody_takes_reports_for_what_is_not_there():
    assert not record_report("cap-reg-nonsense", Report([RequestOutcome(True)]))
    gone = RegistrationFactory(drain_until=timezone.now())
    assert not report(gone, RequestOutcome(True))
    assert not RequestSecond.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_reports_at_the_same_time_lose_nothing():
    registration = RegistrationFactory()

    def tell(caller):
        try:
            for n in range(10):
                report(
                    registration,
                    RequestOutcome(True, caller * 100 + n),
                    RequestOutcome(False),
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(tell, range(8)))
    one = known(registration)
    times = [o.response_time_ms for o in unpack_outcomes(one.window) if o.ok]

    assert sorted(times) == sorted(c * 100 + n for c in range(8) for n in range(10))
    assert one.requests_last_hour == 160
    assert one.success_rate == 0.5
