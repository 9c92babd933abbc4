"""What callers report of the requests they sent, and the figures it makes."""

import time
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from django.db import transaction
from django.db.models import Subquery
from django.utils import timezone

from catalog.health import percentile

from .models import CapabilityRegistration, RequestSecond

WINDOW_SIZE = 1000
SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """One request that a provider was sent, as its caller saw it."""

    ok: bool
    response_time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    outcomes: list[RequestOutcome] = field(default_factory=list)
    gauges: dict[str, Any] = field(default_factory=dict)


def pack_outcomes(outcomes: Iterable[RequestOutcome]) -> bytes:
    """Four bytes each: the time, -1 where nobody told, and a bit for success."""
    return array(
        "i",
        (
            (-1 if o.response_time_ms is None else o.response_time_ms) * 2 + o.ok
            for o in outcomes
        ),
    ).tobytes()


def unpack_outcomes(window: bytes) -> list[RequestOutcome]:
    numbers = array("i")
    numbers.frombytes(bytes(window))
    return [RequestOutcome(bool(n & 1), n >> 1 if n >= 0 else None) for n in numbers]


def compute_metrics(outcomes: list[RequestOutcome]) -> dict[str, Any]:
    """Over exactly these requests; a figure that nobody can tell is None."""
    times = sorted(
        o.response_time_ms for o in outcomes if o.response_time_ms is not None
    )
    return {
        "response_time_avg_ms": fmean(times) if times else None,
        "response_time_p95_ms": percentile(times, 0.95),
        "response_time_p99_ms": percentile(times, 0.99),
        "success_rate": fmean(o.ok for o in outcomes) if outcomes else None,
    }


@transaction.atomic
def record_report(registration_id: str, report: Report) -> bool:
    """Add a report to what is known; False when there is no such registration."""
    mine = CapabilityRegistration.objects.present().select_for_update()
    registration = mine.filter(pk=registration_id).first()
    if registration is None:
        return False
    changes: dict[str, Any] = dict(report.gauges)
    changes |= {f"{name}_at": timezone.now() for name in report.gauges}
    if report.outcomes:
        known = (unpack_outcomes(registration.window) + report.outcomes)[-WINDOW_SIZE:]
        total = registration.requests_total + len(report.outcomes)
        changes |= {
            "window": pack_outcomes(known),
            "requests_total": total,
        } | compute_metrics(known)
        record_request_total(registration_id, total)
    CapabilityRegistration.objects.filter(pk=registration_id).update(**changes)
    return True


def record_request_total(registration_id: str, total: int) -> None:
    """So many by now; of more than an hour ago only the last count is needed."""
    now = int(time.time())
    seconds = RequestSecond.objects.filter(registration_id=registration_id)
    if not seconds.filter(second=now).update(total=total):
        seconds.create(registration_id=registration_id, second=now, total=total)
    an_hour_ago = seconds.filter(second__lte=now - SECONDS_PER_HOUR).order_by("-second")
    seconds.filter(second__lt=Subquery(an_hour_ago.values("second")[:1])).delete()
