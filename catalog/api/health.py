"""Serializers of health: the current state, a probe, and the history."""

from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ..health import PERIODS, History, ProbeOutcome, ProbeSample
from ..models import CatalogEntry

# Maximum number of probes in `recent`.
RECENT_PROBE_COUNT = 100


@dataclass(frozen=True, slots=True)
class HealthReport:
    """An entry and its health history."""

    entry: CatalogEntry
    history: History


class HealthSerializer(serializers.Serializer[CatalogEntry]):
    """The health at the last probe; `latencyMs` is 0 if unknown."""

    state = serializers.CharField(source="status")
    lastProbedAt = serializers.DateTimeField(source="last_probed_at", allow_null=True)
    lastSuccessAt = serializers.DateTimeField(source="last_success_at", allow_null=True)
    latencyMs = serializers.SerializerMethodField()
    consecutiveFailures = serializers.IntegerField(source="consecutive_failures")
    lastError = serializers.CharField(source="last_error", allow_blank=True)

    def get_latencyMs(self, entry: CatalogEntry) -> int:  # noqa: N802 - the field name
        return entry.latency_ms or 0


class ProbeOutcomeSerializer(serializers.Serializer[ProbeOutcome | ProbeSample]):
    ok = serializers.BooleanField()
    at = serializers.DateTimeField()
    latencyMs = serializers.IntegerField(source="latency_ms", allow_null=True)
    error = serializers.CharField(allow_blank=True)


class ProbeSerializer(serializers.Serializer[dict[str, Any]]):
    """The outcome of a probe, and the health of the agent after it."""

    outcome = ProbeOutcomeSerializer()
    health = HealthSerializer()


class UptimeSerializer(serializers.Serializer[dict[str, float | None]]):
    """Uptime from 0 to 1 for each period; null if nothing is known about the period.

    Uptime is weighted by time: the outcome of each probe counts until the next probe,
    at most until that is overdue. Time about which nothing is known is left out.
    """

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # Names such as `24h` cannot be declared in the class body.
        return {name: serializers.FloatField(allow_null=True) for name in PERIODS}


class MonitoredSerializer(serializers.Serializer[dict[str, float]]):
    """The share of each period, from 0 to 1, on which the uptime is based."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {name: serializers.FloatField() for name in PERIODS}


class LatencySerializer(serializers.Serializer[History]):
    """Response times of the last 24 hours in milliseconds."""

    p50Ms = serializers.IntegerField(source="p50", allow_null=True)
    p95Ms = serializers.IntegerField(source="p95", allow_null=True)
    probes = serializers.SerializerMethodField()
    failures = serializers.IntegerField(source="failure_count")

    def get_probes(self, history: History) -> int:
        return len(history.probes)


class HealthHourSerializer(serializers.Serializer[Any]):
    hour = serializers.DateTimeField()
    probes = serializers.IntegerField()
    failures = serializers.IntegerField()
    latencyMs = serializers.IntegerField(
        source="latency_ms",
        allow_null=True,
        help_text="Mean response time in milliseconds.",
    )


class HealthHistorySerializer(serializers.Serializer[HealthReport]):
    """The current health of an agent and its history."""

    health = HealthSerializer(source="entry")
    uptime = UptimeSerializer(source="history.uptime")
    monitored = MonitoredSerializer(source="history.monitored")
    latency = LatencySerializer(source="history")
    recent = serializers.SerializerMethodField(
        help_text="The latest probes, newest first."
    )
    hours = serializers.SerializerMethodField(
        help_text="The last seven days by hour, oldest first. Hours without probes are"
        " left out."
    )

    @extend_schema_field(ProbeOutcomeSerializer(many=True))
    def get_recent(self, report: HealthReport) -> list[dict[str, Any]]:
        probes = report.history.probes[:RECENT_PROBE_COUNT]
        serializer = ProbeOutcomeSerializer()
        return [serializer.to_representation(probe) for probe in probes]

    @extend_schema_field(HealthHourSerializer(many=True))
    def get_hours(self, report: HealthReport) -> list[dict[str, Any]]:
        serializer = HealthHourSerializer()
        return [serializer.to_representation(hour) for hour in report.history.last_week]
