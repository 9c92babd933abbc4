"""Reports of callers about their requests, and the metrics computed from them."""

import time
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from django.db import transaction
from django.db.models import Subquery
from django.utils import timezone

from catalog.health import compute_percentile

from .models import CapabilityRegistration, RequestSecond

WINDOW_SIZE = 1000
SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """The outcome of one request to a provider, as its caller saw it."""

    ok: bool
    response_time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Outcomes of requests, and new values of gauges by field name."""

    outcomes: list[RequestOutcome] = field(default_factory=list)
    gauges: dict[str, Any] = field(default_factory=dict)


def pack_outcomes(outcomes: Iterable[RequestOutcome]) -> bytes:
    """Return four bytes for each outcome.

    The lowest bit is set for a success. The other bits hold the response time in
    milliseconds, -1 if it is unknown.
    """
    numbers = array("i")
    for outcome in outcomes:
        milliseconds = outcome.response_time_ms
        numbers.append((-1 if milliseconds is None else milliseconds) * 2 + outcome.ok)
    return numbers.tobytes()


def unpack_outcomes(window: bytes | memoryview) -> list[RequestOutcome]:
    """Return the outcomes in packed bytes; PostgreSQL returns a memoryview."""
    numbers = array("i")
    numbers.frombytes(bytes(window))
    return [
        RequestOutcome(bool(number & 1), number >> 1 if number >= 0 else None)
        for number in numbers
    ]


def compute_metrics(outcomes: list[RequestOutcome]) -> dict[str, Any]:
    """Return the metrics by field name; those without data to compute from are None."""
    times = sorted(
        outcome.response_time_ms
        for outcome in outcomes
        if outcome.response_time_ms is not None
    )
    success_rate = fmean(outcome.ok for outcome in outcomes) if outcomes else None
    return {
        "response_time_avg_ms": fmean(times) if times else None,
        "response_time_p95_ms": compute_percentile(times, 0.95),
        "response_time_p99_ms": compute_percentile(times, 0.99),
        "success_rate": success_rate,
    }


@transaction.atomic
def record_report(registration_id: str, report: Report) -> bool:
    """Save a report; return False if there is no registration with this ID."""
    rows = CapabilityRegistration.objects.not_drained().select_for_update()
    registration = rows.filter(pk=registration_id).first()
    if registration is None:
        return False
    now = timezone.now()
    changes: dict[str, Any] = dict(report.gauges)
    changes |= {f"{name}_at": now for name in report.gauges}
    if report.outcomes:
        earlier = unpack_outcomes(registration.window)
        window = (earlier + report.outcomes)[-WINDOW_SIZE:]
        total = registration.requests_total + len(report.outcomes)
        changes |= {"window": pack_outcomes(window), "requests_total": total}
        changes |= compute_metrics(window)
        record_request_total(registration_id, total)
    CapabilityRegistration.objects.filter(pk=registration_id).update(**changes)
    return True


def record_request_total(registration_id: str, total: int) -> None:
    """Save the total of the current second, and delete totals of no more use.

    Of those older than an hour, only the latest is kept: the number of requests in the
    last hour is computed from it.
    """
    now = int(time.time())
    totals = RequestSecond.objects.filter(registration_id=registration_id)
    if not totals.filter(second=now).update(total=total):
        totals.create(registration_id=registration_id, second=now, total=total)
    old_totals = totals.filter(second__lte=now - SECONDS_PER_HOUR)
    latest_old_second = old_totals.order_by("-second").values("second")[:1]
    totals.filter(second__lt=Subquery(latest_old_second)).delete()
