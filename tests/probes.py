"""Probes as they could have gone."""

from django.utils import timezone

from catalog.health.status import ProbeOutcome


def well(latency_ms=100, at=None):
    return ProbeOutcome(at or timezone.now(), latency_ms)


def failed(at=None, error="HTTP 503"):
    return ProbeOutcome(at or timezone.now(), error=error)
