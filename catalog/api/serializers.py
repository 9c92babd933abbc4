"""Serializers of catalog entries, definitions and capabilities."""

import base64
from typing import Any, ClassVar, cast

from drf_spectacular.utils import (
    extend_schema_field,
    extend_schema_serializer,
    inline_serializer,
)
from rest_framework import serializers

from capabilities.kinds import kinds, to_camel_case
from capabilities.parsers import ParseResult, parsers
from capabilities.problems import Problem
from capabilities.records import (
    DESCRIPTION_LIMIT,
    DISPLAY_NAME_LIMIT,
    AgentRecord,
    CapabilityRecord,
)

from ..models import Capability, CatalogEntry, Provider, Status
from ..outbound import find_authorization_error
from .base import BoundedListField, StrictCharField
from .health import HealthSerializer

# Stored, or read from a definition.
AnyCapability = Capability | CapabilityRecord


def build_snippet(capability: AnyCapability) -> dict[str, Any]:
    """Return a capability as one flat object with camelCase members."""
    kind, properties = kinds.get(capability.kind), capability.properties
    listed = kind.list_properties if kind and kind.list_properties else properties
    members = {to_camel_case(key): properties.get(key) for key in listed}
    core = {key: getattr(capability, key) for key in ("kind", "name", "description")}
    # First for the order, and last so that no property replaces a core member.
    return core | members | core


class CapabilitySnippetSerializer(serializers.Serializer[AnyCapability]):
    """`kind`, `name`, `description` and the properties of the kind in camelCase."""

    kind = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)

    def to_representation(self, instance: AnyCapability) -> dict[str, Any]:
        return build_snippet(instance)


class ProviderSerializer(serializers.ModelSerializer[Provider]):
    class Meta:
        model = Provider
        fields = ["organization", "team", "url"]


class ValiditySerializer(serializers.Serializer[CatalogEntry]):
    last_seen = serializers.DateTimeField(source="validity_last_seen", read_only=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a Python keyword, so the class body cannot declare it.
        limits = {
            name: serializers.DateTimeField(
                source=f"validity_{name}", allow_null=True, required=False
            )
            for name in ("from", "to")
        }
        return limits | super().get_fields()


CAPABILITY_COUNT_HELP = "Number of capabilities of discoverable kinds."
TECHNICAL_COUNT_HELP = (
    "Number of other capabilities: features, interfaces, security schemes and so on."
)


class EntrySerializer(serializers.ModelSerializer[CatalogEntry]):
    """An entry and its agent type as one flat object, without its capabilities."""

    protocol = serializers.CharField(source="agent_type.protocol")
    endpoint = serializers.CharField(source="agent_type.endpoint")
    version = serializers.CharField(source="agent_type.version")
    spec_version = serializers.CharField(source="agent_type.spec_version")
    provider = ProviderSerializer(source="agent_type.provider", allow_null=True)
    validity = ValiditySerializer(source="*")
    health = HealthSerializer(source="*")
    declared = serializers.BooleanField(
        help_text="The agent cannot be probed. It counts as active because it was"
        " registered."
    )
    categories = serializers.ListField(child=serializers.CharField())
    metadata = serializers.DictField()
    capability_count = serializers.IntegerField(help_text=CAPABILITY_COUNT_HELP)
    technical_count = serializers.IntegerField(help_text=TECHNICAL_COUNT_HELP)

    class Meta:
        model = CatalogEntry
        fields: ClassVar[list[str]] = [
            "id",
            "display_name",
            "description",
            "protocol",
            "endpoint",
            "version",
            "spec_version",
            "agent_key",
            "status",
            "source",
            "source_url",
            "declared",
            "provider",
            "capability_count",
            "technical_count",
            "categories",
            "metadata",
            "validity",
            "health",
            "created_at",
            "updated_at",
        ]
        read_only_fields = fields


class EntryDetailSerializer(EntrySerializer):
    """An entry with its capabilities and its definition."""

    capabilities = CapabilitySnippetSerializer(
        source="agent_type.capabilities", many=True
    )
    raw_definition = serializers.SerializerMethodField(
        help_text="The definition exactly as received, base64 encoded."
    )

    class Meta(EntrySerializer.Meta):
        fields = [
            *EntrySerializer.Meta.fields,
            "definition_problem",
            "capabilities",
            "raw_definition",
        ]
        read_only_fields = fields

    def get_raw_definition(self, entry: CatalogEntry) -> str:
        return base64.b64encode(entry.agent_type.definition).decode()


class EntryPatchSerializer(serializers.Serializer[CatalogEntry]):
    """Changes to an entry; omitted members stay unchanged."""

    display_name = StrictCharField(max_length=DISPLAY_NAME_LIMIT, required=False)
    description = StrictCharField(
        max_length=DESCRIPTION_LIMIT, allow_blank=True, required=False
    )
    categories = BoundedListField(
        child=StrictCharField(max_length=100), max_length=50, required=False
    )
    metadata = serializers.DictField(required=False)
    validity = ValiditySerializer(source="*", required=False)
    status = serializers.ChoiceField(
        choices=[Status.DEPRECATED, Status.ACTIVE], required=False
    )
    reason = StrictCharField(
        max_length=500,
        required=False,
        allow_blank=True,
        help_text="Reason for the change, shown in the history of the entry.",
    )


class EmptyBodySerializer(serializers.Serializer[None]):
    """An empty body, for operations that take none; every member is rejected."""


class AuthorizationSerializer(serializers.Serializer[None]):
    """Credentials for a running agent that requires them."""

    authorization = StrictCharField(
        max_length=8000,
        required=False,
        write_only=True,
        help_text="`Authorization` header, sent only to the origin of the URL. Used"
        " once and never stored.",
    )

    def validate_authorization(self, value: str) -> str:
        if error := find_authorization_error(value):
            raise serializers.ValidationError(f"The header {error}.")
        return value


class ImportSerializer(AuthorizationSerializer):
    url = StrictCharField(
        max_length=2000,
        help_text="URL of a definition, of a host that publishes one at a well-known"
        " path, of an MCP server, or of an AG-UI agent.",
    )
    protocol = serializers.ChoiceField(choices=[], required=False)
    capabilities_url = StrictCharField(
        max_length=2000,
        required=False,
        help_text="Where an AG-UI agent publishes its capabilities, if not at"
        " `{url}/capabilities`.",
    )
    allow_stub = serializers.BooleanField(
        required=False,
        help_text="If the server requires authorization, register the agent without its"
        " definition: only its address, and how to get access, as far as the server"
        " says so.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        protocol_field = cast(serializers.ChoiceField, self.fields["protocol"])
        protocol_field.choices = parsers.choices()


class ProblemSerializer(serializers.Serializer[Problem]):
    path = serializers.CharField(help_text="JSON path, such as `$.skills[0].name`.")
    message = serializers.CharField()


class CapabilityKeySerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField()


class PreviewSerializer(serializers.Serializer[AgentRecord]):
    """The agent as the definition describes it."""

    display_name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    protocol = serializers.CharField()
    endpoint = serializers.CharField()
    version = serializers.CharField(allow_blank=True)
    spec_version = serializers.CharField(allow_blank=True)
    provider = inline_serializer(
        "PreviewProvider",
        {
            "organization": serializers.CharField(),
            "team": serializers.CharField(allow_blank=True),
            "url": serializers.CharField(allow_blank=True),
        },
        allow_null=True,
    )
    capabilities = CapabilitySnippetSerializer(many=True)


@extend_schema_serializer(component_name="Reading")
class ParseResultSerializer(serializers.Serializer[ParseResult]):
    """Every error and warning about a definition, and a preview if it is valid."""

    valid = serializers.BooleanField(source="is_valid")
    protocol = serializers.CharField(allow_blank=True)
    spec_version = serializers.CharField(allow_blank=True)
    errors = ProblemSerializer(many=True)  # type: ignore[assignment]  # a declared field
    warnings = ProblemSerializer(many=True)
    preview = serializers.SerializerMethodField()

    @extend_schema_field(PreviewSerializer(allow_null=True))
    def get_preview(self, result: ParseResult) -> dict[str, Any] | None:
        return PreviewSerializer(result.record).data if result.is_valid else None


class KindSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a declared field
    protocol = serializers.CharField()
    discoverable = serializers.BooleanField()


class StatsSerializer(serializers.Serializer[dict[str, Any]]):
    """Entries by status, protocol and source; capabilities by kind."""

    total = serializers.IntegerField()
    status = serializers.DictField(child=serializers.IntegerField())
    protocol = serializers.DictField(child=serializers.IntegerField())
    source = serializers.DictField(  # type: ignore[assignment]  # a declared field
        child=serializers.IntegerField()
    )
    kind = serializers.DictField(child=serializers.IntegerField())
