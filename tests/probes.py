"""Outcomes of probes."""

from django.utils import timezone

from catalog.health.status import ProbeOutcome


def success(latency_ms=100, at=None):
    return ProbeOutcome(at or timezone.now(), latency_ms)


def failure(at=None, error="HTTP 503"):
    return ProbeOutcome(at or timezone.now(), error=error)
