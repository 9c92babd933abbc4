"""How health looks from outside: now, after a probe, and over time."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ..health import WINDOWS


class HealthSerializer(serializers.Serializer):
    """How the agent was when last asked; `latencyMs` is 0 when unknown."""

    state = serializers.CharField(source="status")
    lastProbedAt = serializers.DateTimeField(source="last_probed_at", allow_null=True)
    lastSuccessAt = serializers.DateTimeField(source="last_success_at", allow_null=True)
    latencyMs = serializers.SerializerMethodField()
    consecutiveFailures = serializers.IntegerField(source="consecutive_failures")
    lastError = serializers.CharField(source="last_error", allow_blank=True)

    def get_latencyMs(self, entry) -> int:  # noqa: N802 - the wire's own name
        return entry.latency_ms or 0


class ProbeOutcomeSerializer(serializers.Serializer):
    ok = serializers.BooleanField()
    at = serializers.DateTimeField()
    latencyMs = serializers.IntegerField(source="latency_ms", allow_null=True)
    error = serializers.CharField(allow_blank=True)


class ProbeSerializer(serializers.Serializer):
    """What one probe brought, and how the agent is after it."""

    outcome = ProbeOutcomeSerializer()
    health = HealthSerializer()


class UptimeSerializer(serializers.Serializer):
    """Shares between 0 and 1, each hour counting the same; null when not probed."""

    def get_fields(self):
        # Names that Python cannot have.
        return {name: serializers.FloatField(allow_null=True) for name in WINDOWS}


class LatencySerializer(serializers.Serializer):
    """Of the answers within the last 24 hours, in milliseconds."""

    p50Ms = serializers.IntegerField(source="p50", allow_null=True)
    p95Ms = serializers.IntegerField(source="p95", allow_null=True)
    probes = serializers.SerializerMethodField()
    failures = serializers.IntegerField(source="failure_count")

    def get_probes(self, history) -> int:
        return len(history.probes)


class HealthHourSerializer(serializers.Serializer):
    hour = serializers.DateTimeField()
    probes = serializers.IntegerField()
    failures = serializers.IntegerField()
    latencyMs = serializers.IntegerField(
        source="latency_ms", allow_null=True, help_text="On average."
    )


class HealthHistorySerializer(serializers.Serializer):
    """How an agent is, and how it has been."""

    health = HealthSerializer(source="entry")
    uptime = UptimeSerializer(source="history.uptime")
    latency = LatencySerializer(source="history")
    recent = serializers.SerializerMethodField()
    hours = serializers.SerializerMethodField()

    @extend_schema_field(ProbeOutcomeSerializer(many=True))
    def get_recent(self, told):
        """The last probes, the newest first."""
        return ProbeOutcomeSerializer(told["history"].probes[:100], many=True).data

    @extend_schema_field(HealthHourSerializer(many=True))
    def get_hours(self, told):
        """The last week, hour by hour, the oldest first; hours without probes lack."""
        return HealthHourSerializer(told["history"].last_week, many=True).data
