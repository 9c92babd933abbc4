"""Seed 001's JSON, field for field."""

from collections.abc import Iterable
from typing import Any

from ..decisions import Decision
from ..events import HEALTH_CHECK_FAILED, timestamp
from ..health import overall
from ..models import UNHEALTHY, Offer
from ..strategies import Ranked


def seconds(milliseconds: float | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds / 1000:.1f}s"


def rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def registration(one: Offer) -> dict[str, Any]:
    """What registering and updating answer."""
    updated = timestamp(one.updated_at)
    return {
        "registration_id": one.pk,
        "agent_id": one.agent_id,
        "capability": one.capability,
        "version": one.version,
        "priority": one.priority,
        "status": one.status,
        "registered_at": timestamp(one.registered_at),
        "updated_at": updated,
        "last_updated": updated,
        "last_health_check": timestamp(one.last_check),
        "metadata": one.metadata,
        "health_check_url": one.health_check_url or None,
    }


def provider(one: Offer) -> dict[str, Any]:
    """What every provider has in common."""
    return {
        "registration_id": one.pk,
        "agent_id": one.agent_id,
        "agent_name": one.agent_name,
        "version": one.version,
        "priority": one.priority,
        "status": one.status,
    }


def listed(one: Offer, include_metadata: bool) -> dict[str, Any]:
    """A provider in the list of capabilities."""
    if include_metadata:
        figures = performance_metrics(one)
        return provider(one) | {
            "metadata": one.metadata,
            "performance_metrics": figures,
        }
    return provider(one) | {
        "load_score": one.load,
        "response_time_avg": seconds(one.response_time_ms),
        "success_rate": rounded(one.reliability),
    }


def performance_metrics(one: Offer) -> dict[str, Any]:
    succeeded = rounded(one.reliability)
    return {
        "response_time_avg": seconds(one.response_time_ms),
        "response_time_p95": seconds(one.response_time_p95_ms),
        "response_time_p99": seconds(one.response_time_p99_ms),
        "load_score": one.load,
        "concurrent_requests": one.running,
        "requests_per_minute": one.requests_last_minute,
        "queue_depth": one.queued,
        "success_rate": succeeded,
        "error_rate": None if succeeded is None else rounded(1 - succeeded),
        "consecutive_failures": one.consecutive_failures,
        "uptime_percentage": None if one.uptime is None else round(one.uptime * 100, 2),
        "requests_last_hour": one.requests_last_hour,
    }


def found(place: Ranked) -> dict[str, Any]:
    """A provider in its place among those for one capability."""
    one = place.candidate.item
    return provider(one) | {
        "routing_score": round(place.score, 4),
        "metadata": one.metadata,
        "health": {
            "status": one.health,
            "last_check": timestamp(one.last_check),
            "response_time": seconds(one.response_time_ms),
        },
        "performance_metrics": performance_metrics(one),
    }


def decision(told: Decision) -> dict[str, Any]:
    return {
        "capability": told.capability,
        "providers": [found(place) for place in told.order],
        "routing_strategy": told.strategy,
        "total_providers": told.total,
        "healthy_providers": told.healthy,
    }


def checked(one: Offer) -> dict[str, Any]:
    """A provider's health; what is wrong, where something is."""
    told = {
        "agent_id": one.agent_id,
        "agent_name": one.agent_name,
        "status": one.health,
        "last_check": timestamp(one.last_check),
    }
    if one.health != UNHEALTHY:
        told["response_time"] = seconds(one.response_time_ms)
        told["success_rate"] = rounded(one.reliability)
    if one.consecutive_failures:
        told["error"] = one.error
        told["consecutive_failures"] = one.consecutive_failures
        told["code"] = HEALTH_CHECK_FAILED
    return told


def capability_health(capability: str, providers: Iterable[Offer]) -> dict[str, Any]:
    providers = list(providers)
    healthy = sum(one.is_healthy for one in providers)
    return {
        "capability": capability,
        "overall_health": overall(healthy, len(providers)),
        "healthy_providers": healthy,
        "total_providers": len(providers),
        "providers": [checked(one) for one in providers],
    }
