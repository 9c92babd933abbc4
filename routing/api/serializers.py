"""Serializers of registrations, reports, routing decisions and health."""

import json
import re
from collections.abc import Container
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from capabilities.validators import find_registration_name_error
from catalog.api.base import (
    ResponseSerializer,
    StrictCharField,
    StrictFloatField,
    StrictIntegerField,
)

from ..events import HEALTH_CHECK_FAILED
from ..models import (
    PRIORITY_LIMIT,
    REGISTRATION_STATUSES,
    UNHEALTHY,
    DesiredState,
    RegistrationMetricsMixin,
)
from ..strategies import STRATEGIES, RankedCandidate
from ..validators import find_health_check_url_error, find_version_error
from .errors import InvalidAgentId, InvalidCapabilityName, InvalidVersion
from .fields import (
    ComplementField,
    ConstantField,
    PercentageField,
    RoundedField,
    SecondsField,
    StringOrNullField,
    TimestampField,
)
from .listing import ListedProvider

AGENT_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# Error details repeat at most this many characters of an invalid value.
DETAIL_LIMIT = 128
OUTCOMES_PER_REPORT_LIMIT = 1000
MILLISECONDS_PER_DAY = 86_400_000
COUNT_LIMIT = 1_000_000_000
METADATA_LIMIT = 65_536


class BaseRegistrationSerializer(serializers.Serializer[dict[str, Any]]):
    """The fields that can be set by registering and by updating."""

    version = StrictCharField(required=False, trim_whitespace=False, allow_blank=True)
    priority = StrictIntegerField(min_value=0, max_value=PRIORITY_LIMIT, required=False)
    metadata = serializers.DictField(required=False)
    health_check_url = StrictCharField(
        max_length=2000,
        required=False,
        trim_whitespace=False,
        allow_blank=True,
        allow_null=True,
        help_text="An absolute URL, or a path relative to the agent's endpoint."
        " `{agent_id}` is replaced. Without a URL, the health of the agent is used.",
    )

    def validate_version(self, value: str) -> str:
        if error := find_version_error(value):
            raise InvalidVersion(f"The version {error}", version=value[:DETAIL_LIMIT])
        return value

    def validate_metadata(self, value: dict[str, Any]) -> dict[str, Any]:
        """Limit the size, because every routing decision repeats the metadata."""
        if len(json.dumps(value)) > METADATA_LIMIT:
            raise serializers.ValidationError(
                f"Must not exceed {METADATA_LIMIT} bytes as JSON."
            )
        return value

    def validate_health_check_url(self, value: str | None) -> str:
        """Return '' for null, which removes the URL."""
        url = value or ""
        if error := find_health_check_url_error(url):
            raise serializers.ValidationError(f"The URL {error}.")
        return url


class RegistrationSerializer(BaseRegistrationSerializer):
    """An agent and the capability to register it for."""

    agent_id = StrictCharField(
        trim_whitespace=False,
        allow_blank=True,
        help_text="ID or agent key of a catalog entry.",
    )
    capability = StrictCharField(
        trim_whitespace=False,
        allow_blank=True,
        help_text="Lowercase words joined by hyphens, such as `data-analysis`.",
    )

    def validate_agent_id(self, value: str) -> str:
        if not AGENT_ID.fullmatch(value):
            raise InvalidAgentId(agent_id=value[:DETAIL_LIMIT])
        return value

    def validate_capability(self, value: str) -> str:
        if error := find_registration_name_error(value):
            raise InvalidCapabilityName(
                f"The capability name {error}", capability=value[:DETAIL_LIMIT]
            )
        return value


@extend_schema_serializer(component_name="Update")
class RegistrationUpdateSerializer(BaseRegistrationSerializer):
    """Members to change; omitted ones stay unchanged. `metadata` is replaced."""

    agent_id = StrictCharField(required=False, help_text="Cannot be changed.")
    capability = StrictCharField(required=False, help_text="Cannot be changed.")

    status = serializers.ChoiceField(
        source="desired_state",
        choices=DesiredState.choices,
        required=False,
        help_text="`unhealthy` cannot be set: it is the result of health checks.",
    )


@extend_schema_serializer(component_name="Outcome")
class RequestOutcomeSerializer(serializers.Serializer[dict[str, Any]]):
    ok = serializers.BooleanField()
    response_time_ms = StrictFloatField(
        min_value=0, max_value=MILLISECONDS_PER_DAY, required=False, allow_null=True
    )

    def validate_response_time_ms(self, value: float | None) -> int | None:
        """Round to milliseconds, the precision that is stored."""
        return None if value is None else round(value)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, dict) and not isinstance(data.get("ok"), bool):
            raise serializers.ValidationError({"ok": ["Must be true or false."]})
        outcome: dict[str, Any] = super().to_internal_value(data)
        return outcome


class ReportSerializer(serializers.Serializer[dict[str, Any]]):
    """Outcomes of requests to a provider, and its current load."""

    outcomes = RequestOutcomeSerializer(  # type: ignore[call-arg]  # `many` takes it
        many=True, required=False, max_length=OUTCOMES_PER_REPORT_LIMIT
    )
    concurrent_requests = StrictIntegerField(
        min_value=0, max_value=COUNT_LIMIT, required=False, allow_null=True
    )
    queue_depth = StrictIntegerField(
        min_value=0, max_value=COUNT_LIMIT, required=False, allow_null=True
    )
    load_score = StrictFloatField(
        min_value=0.0, max_value=1.0, required=False, allow_null=True
    )


@extend_schema_serializer(component_name="RegistrationTold")
class RegistrationDetailSerializer(ResponseSerializer):
    registration_id = serializers.CharField(source="pk")
    agent_id = serializers.CharField()
    capability = serializers.CharField()
    version = serializers.CharField()
    priority = serializers.IntegerField()
    status = serializers.ChoiceField(choices=REGISTRATION_STATUSES)
    registered_at = TimestampField()
    updated_at = TimestampField()
    last_updated = TimestampField(source="updated_at")
    last_health_check = TimestampField(source="last_check", allow_null=True)
    metadata = serializers.DictField()
    health_check_url = StringOrNullField(allow_null=True)


class PerformanceMetricsSerializer(ResponseSerializer):
    """Metrics of a provider. Times have the form `1.2s`; unknown values are null."""

    response_time_avg = SecondsField(source="response_time_ms", allow_null=True)
    response_time_p95 = SecondsField(source="response_time_p95_ms", allow_null=True)
    response_time_p99 = SecondsField(source="response_time_p99_ms", allow_null=True)
    load_score = serializers.FloatField(source="current_load_score", allow_null=True)
    concurrent_requests = serializers.IntegerField(
        source="current_concurrent_requests", allow_null=True
    )
    requests_per_minute = serializers.IntegerField(source="requests_last_minute")
    queue_depth = serializers.IntegerField(
        source="current_queue_depth", allow_null=True
    )
    success_rate = RoundedField(source="reliability", allow_null=True)
    error_rate = ComplementField(source="reliability", allow_null=True)
    consecutive_failures = serializers.IntegerField()
    uptime_percentage = PercentageField(source="uptime", allow_null=True)
    requests_last_hour = serializers.IntegerField()


# Without a docstring: the schema would repeat it for subclasses that have none.
class BaseProviderSerializer(ResponseSerializer):
    registration_id = serializers.CharField(source="pk")
    agent_id = serializers.CharField()
    agent_name = serializers.CharField()
    version = serializers.CharField()
    priority = serializers.IntegerField()
    status = serializers.ChoiceField(choices=REGISTRATION_STATUSES)


class ListedProviderSerializer(BaseProviderSerializer):
    """A provider with its three main metrics.

    With `include_metadata`, it has its metadata and all metrics.
    """

    MAIN_METRICS = frozenset({"load_score", "response_time_avg", "success_rate"})
    ALL_DETAILS = frozenset({"metadata", "performance_metrics"})

    load_score = serializers.FloatField(
        source="current_load_score", allow_null=True, required=False
    )
    response_time_avg = SecondsField(
        source="response_time_ms", allow_null=True, required=False
    )
    success_rate = RoundedField(source="reliability", allow_null=True, required=False)
    metadata = serializers.DictField(required=False)
    performance_metrics = PerformanceMetricsSerializer(source="*", required=False)

    def to_representation(
        self, instance: ListedProvider, exclude: Container[str] = ()
    ) -> dict[str, Any]:
        exclude = self.MAIN_METRICS if instance.with_metadata else self.ALL_DETAILS
        return super().to_representation(instance.provider, exclude)


class CapabilityProvidersSerializer(ResponseSerializer):
    capability = serializers.CharField()
    providers = ListedProviderSerializer(many=True)


class CapabilitiesSerializer(ResponseSerializer):
    capabilities = CapabilityProvidersSerializer(many=True)
    total = serializers.IntegerField(
        help_text="Number of matching capabilities on all pages."
    )
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


class ProviderHealthSerializer(ResponseSerializer):
    status = serializers.CharField(
        source="health", help_text="`healthy`, `degraded`, `unhealthy` or `unknown`."
    )
    last_check = TimestampField(allow_null=True)
    response_time = SecondsField(source="response_time_ms", allow_null=True)


@extend_schema_serializer(component_name="FoundProvider")
class RankedProviderSerializer(BaseProviderSerializer):
    routing_score = RoundedField()
    metadata = serializers.DictField()
    health = ProviderHealthSerializer(source="*")
    performance_metrics = PerformanceMetricsSerializer(source="*")

    def to_representation(
        self, instance: RankedCandidate, exclude: Container[str] = ()
    ) -> dict[str, Any]:
        provider = instance.candidate.registration
        provider.routing_score = instance.score
        return super().to_representation(provider, exclude)


class DecisionSerializer(ResponseSerializer):
    capability = serializers.CharField()
    providers = RankedProviderSerializer(source="ranked_providers", many=True)
    routing_strategy = serializers.ChoiceField(
        source="strategy", choices=list(STRATEGIES)
    )
    total_providers = serializers.IntegerField()
    healthy_providers = serializers.IntegerField()


class CheckedProviderSerializer(ResponseSerializer):
    METRIC_FIELDS: ClassVar[frozenset[str]] = frozenset(
        {"response_time", "success_rate"}
    )
    FAILURE_FIELDS: ClassVar[frozenset[str]] = frozenset(
        {"error", "consecutive_failures", "code"}
    )

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

    def to_representation(
        self, instance: RegistrationMetricsMixin, exclude: Container[str] = ()
    ) -> dict[str, Any]:
        """Exclude the failure if there is none, and metrics of unhealthy providers."""
        hidden = frozenset[str]()
        if not instance.consecutive_failures:
            hidden |= self.FAILURE_FIELDS
        if instance.health == UNHEALTHY:
            hidden |= self.METRIC_FIELDS
        return super().to_representation(instance, hidden)


class CapabilityHealthSerializer(ResponseSerializer):
    capability = serializers.CharField()
    overall_health = serializers.CharField(source="health")
    healthy_providers = serializers.IntegerField()
    total_providers = serializers.IntegerField()
    providers = CheckedProviderSerializer(many=True)


@extend_schema_serializer(component_name="HealthOfCapability")
class CapabilityHealthSummarySerializer(ResponseSerializer):
    capability = serializers.CharField()
    health = serializers.CharField()
    healthy_providers = serializers.IntegerField()
    total_providers = serializers.IntegerField()


class RegistryHealthSerializer(ResponseSerializer):
    overall_health = serializers.CharField()
    healthy_capabilities = serializers.IntegerField()
    degraded_capabilities = serializers.IntegerField()
    unhealthy_capabilities = serializers.IntegerField()
    capabilities = CapabilityHealthSummarySerializer(many=True)
