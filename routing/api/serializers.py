"""The bodies that the registry accepts, and the responses that it writes."""

import json
import re
from typing import Any

from rest_framework import serializers

from capabilities.validators import capability_name_error
from catalog.api.base import (
    ResponseSerializer,
    StrictCharField,
    StrictFloatField,
    StrictIntegerField,
)

from ..events import HEALTH_CHECK_FAILED
from ..models import (
    PRIORITY_LIMIT,
    STATUSES,
    UNHEALTHY,
    DesiredState,
    RegistrationMetricsMixin,
)
from ..strategies import STRATEGIES, RankedCandidate
from ..validators import health_check_url_error, version_error
from .errors import InvalidAgentId, InvalidCapabilityName, InvalidVersion
from .fields import (
    ConstantField,
    PercentageField,
    RemainderField,
    RoundedField,
    SecondsField,
    TextOrNullField,
    TimestampField,
)
from .listing import ListedProvider

AGENT_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
REPORT_LIMIT = 1000
DAY_MS = 86_400_000
COUNT_LIMIT = 1_000_000_000
METADATA_LIMIT = 65_536


class OfferSerializer(serializers.Serializer):
    """What registering and updating have in common."""

    version = StrictCharField(required=False, trim_whitespace=False, allow_blank=True)
    priority = StrictIntegerField(min_value=0, max_value=PRIORITY_LIMIT, required=False)
    metadata = serializers.DictField(required=False)
    health_check_url = StrictCharField(
        max_length=2000,
        required=False,
        trim_whitespace=False,
        allow_blank=True,
        allow_null=True,
        help_text="Absolute, or relative to the agent's endpoint; `{agent_id}` is"
        " replaced. Without one the agent's own health counts.",
    )

    def validate_version(self, value):
        if version_error(value):
            raise InvalidVersion(version=value[:128])
        return value

    def validate_metadata(self, value):
        """Every answer about a provider carries all of it."""
        if len(json.dumps(value)) > METADATA_LIMIT:
            raise serializers.ValidationError(f"Over {METADATA_LIMIT} bytes of JSON.")
        return value

    def validate_health_check_url(self, value):
        """Null, as it is told where there is none, takes it away."""
        value = value or ""
        if fault := health_check_url_error(value):
            raise serializers.ValidationError(f"The URL {fault}.")
        return value


class RegistrationSerializer(OfferSerializer):
    agent_id = StrictCharField(
        trim_whitespace=False,
        allow_blank=True,
        help_text="A catalog entry's id, or its agent key.",
    )
    capability = StrictCharField(
        trim_whitespace=False,
        allow_blank=True,
        help_text="Lowercase words with hyphens: `data-analysis`.",
    )

    def validate_agent_id(self, value):
        if not AGENT_ID.fullmatch(value):
            raise InvalidAgentId(agent_id=value[:128])
        return value

    def validate_capability(self, value):
        if fault := capability_name_error(value):
            raise InvalidCapabilityName(
                f"The capability name {fault}", capability=value[:128]
            )
        return value


class UpdateSerializer(OfferSerializer):
    """A member left out stays as it is; `metadata` is replaced as a whole."""

    agent_id = StrictCharField(required=False, help_text="Cannot be changed.")
    capability = StrictCharField(required=False, help_text="Cannot be changed.")

    status = serializers.ChoiceField(
        source="intent",
        choices=DesiredState.choices,
        required=False,
        help_text="Whether it is `unhealthy`, only checks tell.",
    )


class OutcomeSerializer(serializers.Serializer):
    ok = serializers.BooleanField()
    response_time_ms = StrictFloatField(
        min_value=0, max_value=DAY_MS, required=False, allow_null=True
    )

    def validate_response_time_ms(self, value):
        """To the millisecond: who measures finer may say so."""
        return None if value is None else round(value)

    def to_internal_value(self, data):
        if isinstance(data, dict) and not isinstance(data.get("ok"), bool):
            raise serializers.ValidationError({"ok": ["Must be true or false."]})
        return super().to_internal_value(data)


class ReportSerializer(serializers.Serializer):
    """Requests that were sent to a provider, and how busy it is."""

    outcomes = OutcomeSerializer(many=True, required=False, max_length=REPORT_LIMIT)
    concurrent_requests = StrictIntegerField(
        min_value=0, max_value=COUNT_LIMIT, required=False, allow_null=True
    )
    queue_depth = StrictIntegerField(
        min_value=0, max_value=COUNT_LIMIT, required=False, allow_null=True
    )
    load_score = StrictFloatField(
        min_value=0.0, max_value=1.0, required=False, allow_null=True
    )


class RegistrationToldSerializer(ResponseSerializer):
    registration_id = serializers.CharField(source="pk")
    agent_id = serializers.CharField()
    capability = serializers.CharField()
    version = serializers.CharField()
    priority = serializers.IntegerField()
    status = serializers.ChoiceField(choices=STATUSES)
    registered_at = TimestampField()
    updated_at = TimestampField()
    last_updated = TimestampField(source="updated_at")
    last_health_check = TimestampField(source="last_check", allow_null=True)
    metadata = serializers.DictField()
    health_check_url = TextOrNullField(allow_null=True)


class PerformanceMetricsSerializer(ResponseSerializer):
    """Times read like `1.2s`; what nobody told is null."""

    response_time_avg = SecondsField(source="response_time_ms", allow_null=True)
    response_time_p95 = SecondsField(source="response_time_p95_ms", allow_null=True)
    response_time_p99 = SecondsField(source="response_time_p99_ms", allow_null=True)
    load_score = serializers.FloatField(source="load", allow_null=True)
    concurrent_requests = serializers.IntegerField(source="running", allow_null=True)
    requests_per_minute = serializers.IntegerField(source="requests_last_minute")
    queue_depth = serializers.IntegerField(source="queued", allow_null=True)
    success_rate = RoundedField(source="reliability", allow_null=True)
    error_rate = RemainderField(source="reliability", allow_null=True)
    consecutive_failures = serializers.IntegerField()
    uptime_percentage = PercentageField(source="uptime", allow_null=True)
    requests_last_hour = serializers.IntegerField()


class ProviderSerializer(ResponseSerializer):
    registration_id = serializers.CharField(source="pk")
    agent_id = serializers.CharField()
    agent_name = serializers.CharField()
    version = serializers.CharField()
    priority = serializers.IntegerField()
    status = serializers.ChoiceField(choices=STATUSES)


class ListedProviderSerializer(ProviderSerializer):
    """The figures flat, or with `include_metadata` together with the metadata."""

    FLAT = frozenset({"load_score", "response_time_avg", "success_rate"})
    WITH_METADATA = frozenset({"metadata", "performance_metrics"})

    load_score = serializers.FloatField(source="load", allow_null=True, required=False)
    response_time_avg = SecondsField(
        source="response_time_ms", allow_null=True, required=False
    )
    success_rate = RoundedField(source="reliability", allow_null=True, required=False)
    metadata = serializers.DictField(required=False)
    performance_metrics = PerformanceMetricsSerializer(source="*", required=False)

    def to_representation(self, listed: ListedProvider) -> dict[str, Any]:
        """Read the figures, or the metadata and all metrics, as was asked."""
        left_out = self.FLAT if listed.with_metadata else self.WITH_METADATA
        return super().to_representation(listed.provider, left_out)


class CapabilityProvidersSerializer(ResponseSerializer):
    capability = serializers.CharField()
    providers = ListedProviderSerializer(many=True)


class CapabilitiesSerializer(ResponseSerializer):
    capabilities = CapabilityProvidersSerializer(many=True)
    total = serializers.IntegerField(help_text="Capabilities that match.")
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


class ProviderHealthSerializer(ResponseSerializer):
    status = serializers.CharField(
        source="health", help_text="healthy, degraded, unhealthy, unknown"
    )
    last_check = TimestampField(allow_null=True)
    response_time = SecondsField(source="response_time_ms", allow_null=True)


class FoundProviderSerializer(ProviderSerializer):
    routing_score = RoundedField()
    metadata = serializers.DictField()
    health = ProviderHealthSerializer(source="*")
    performance_metrics = PerformanceMetricsSerializer(source="*")

    def to_representation(self, place: RankedCandidate) -> dict[str, Any]:
        """Read the provider, with the score of its place in the order."""
        provider = place.candidate.item
        provider.routing_score = place.score
        return super().to_representation(provider)


class DecisionSerializer(ResponseSerializer):
    capability = serializers.CharField()
    providers = FoundProviderSerializer(source="order", many=True)
    routing_strategy = serializers.ChoiceField(
        source="strategy", choices=list(STRATEGIES)
    )
    total_providers = serializers.IntegerField(source="total")
    healthy_providers = serializers.IntegerField(source="healthy")


class CheckedProviderSerializer(ResponseSerializer):
    FIGURES = frozenset({"response_time", "success_rate"})
    FAILURE = frozenset({"error", "consecutive_failures", "code"})

    agent_id = serializers.CharField()
    agent_name = serializers.CharField()
    status = serializers.CharField(source="health")
    last_check = TimestampField(allow_null=True)
    response_time = SecondsField(
        source="response_time_ms", allow_null=True, required=False
    )
    success_rate = RoundedField(source="reliability", allow_null=True, required=False)
    error = serializers.CharField(required=False)
    consecutive_failures = serializers.IntegerField(required=False)
    code = ConstantField(HEALTH_CHECK_FAILED, required=False)

    def to_representation(self, provider: RegistrationMetricsMixin) -> dict[str, Any]:
        """Leave out figures of an unhealthy provider, and failures without any."""
        left_out = frozenset() if provider.consecutive_failures else self.FAILURE
        if provider.health == UNHEALTHY:
            left_out |= self.FIGURES
        return super().to_representation(provider, left_out)


class CapabilityHealthSerializer(ResponseSerializer):
    capability = serializers.CharField()
    overall_health = serializers.CharField(source="health")
    healthy_providers = serializers.IntegerField()
    total_providers = serializers.IntegerField()
    providers = CheckedProviderSerializer(many=True)


class HealthOfCapabilitySerializer(ResponseSerializer):
    capability = serializers.CharField()
    health = serializers.CharField()
    healthy_providers = serializers.IntegerField()
    total_providers = serializers.IntegerField()


class RegistryHealthSerializer(ResponseSerializer):
    overall_health = serializers.CharField()
    healthy_capabilities = serializers.IntegerField()
    degraded_capabilities = serializers.IntegerField()
    unhealthy_capabilities = serializers.IntegerField()
    capabilities = HealthOfCapabilitySerializer(many=True)
