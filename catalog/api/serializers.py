"""How the catalog looks from outside: seed 003's flat JSON, field for field."""

import base64
import re

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from capabilities.kinds import kinds, removal_breaks_clients
from capabilities.parsers import parsers
from capabilities.records import DESCRIPTION_LIMIT, DISPLAY_NAME_LIMIT

from ..ingestion import Result
from ..models import AgentType, CatalogEntry, DefinitionChange, Provider, Status
from ..outbound import authorization_error
from .base import BoundedListField, StrictCharField
from .health import HealthSerializer


def camel_case(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def snippet(capability) -> dict:
    """A capability, stored or read, as one flat camelCase object."""
    kind, properties = kinds.get(capability.kind), capability.properties
    shown = kind.list_properties if kind and kind.list_properties else properties
    own = {camel_case(key): properties.get(key) for key in shown}
    core = {key: getattr(capability, key) for key in ("kind", "name", "description")}
    # Twice: it comes first, and no property can stand in for it.
    return core | own | core


class CapabilitySnippetSerializer(serializers.Serializer):
    """`kind`, `name`, `description` and the kind's own properties in camelCase."""

    kind = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)

    def to_representation(self, capability):
        return snippet(capability)


class ProviderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Provider
        fields = ["organization", "team", "url"]


class ValiditySerializer(serializers.Serializer):
    last_seen = serializers.DateTimeField(source="validity_last_seen", read_only=True)

    def get_fields(self):
        # `from` is a word of Python's own.
        edges = {
            edge: serializers.DateTimeField(
                source=f"validity_{edge}", allow_null=True, required=False
            )
            for edge in ("from", "to")
        }
        return edges | super().get_fields()


class EntrySerializer(serializers.ModelSerializer):
    """An entry and its agent type as one flat object, as lists show it."""

    protocol = serializers.CharField(source="agent_type.protocol")
    endpoint = serializers.CharField(source="agent_type.endpoint")
    version = serializers.CharField(source="agent_type.version")
    spec_version = serializers.CharField(source="agent_type.spec_version")
    provider = ProviderSerializer(source="agent_type.provider", allow_null=True)
    validity = ValiditySerializer(source="*")
    health = HealthSerializer(source="*")
    declared = serializers.BooleanField(
        help_text="Active by its own word: it has no address to probe."
    )
    categories = serializers.ListField(child=serializers.CharField())
    metadata = serializers.DictField()
    capability_count = serializers.IntegerField()

    class Meta:
        model = CatalogEntry
        fields = [
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
            "categories",
            "metadata",
            "validity",
            "health",
            "created_at",
            "updated_at",
        ]
        read_only_fields = fields


class EntryDetailSerializer(EntrySerializer):
    """The whole entry: with its capabilities and the definition, base64 encoded."""

    capabilities = CapabilitySnippetSerializer(
        source="agent_type.capabilities", many=True
    )
    raw_definition = serializers.SerializerMethodField(
        help_text="The exact bytes received, base64 encoded."
    )

    class Meta(EntrySerializer.Meta):
        fields = [
            *EntrySerializer.Meta.fields,
            "definition_problem",
            "capabilities",
            "raw_definition",
        ]
        read_only_fields = fields

    def get_raw_definition(self, entry) -> str:
        return base64.b64encode(entry.agent_type.definition).decode()


class EntryPatchSerializer(serializers.Serializer):
    """What a curator may change; a field left out stays as it is."""

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
        help_text="Why; kept in the entry's history.",
    )


class NothingSerializer(serializers.Serializer):
    """For what takes no body: whoever sends one means something else."""


class AuthorizationSerializer(serializers.Serializer):
    """For a running MCP server that asks who is there."""

    authorization = StrictCharField(
        max_length=8000,
        required=False,
        write_only=True,
        help_text="An `Authorization` header for a running MCP server or an AG-UI"
        " agent; used this once, never stored.",
    )

    def validate_authorization(self, value):
        if fault := authorization_error(value):
            raise serializers.ValidationError(f"It {fault}.")
        return value


class ImportSerializer(AuthorizationSerializer):
    url = StrictCharField(
        max_length=2000,
        help_text="A definition's own URL, or a host that keeps one at a known path.",
    )
    protocol = serializers.ChoiceField(choices=[], required=False)
    capabilities_url = StrictCharField(
        max_length=2000,
        required=False,
        help_text="Where an AG-UI agent tells what it supports, if not at"
        " `{url}/capabilities`.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["protocol"].choices = parsers.choices()


class ProblemSerializer(serializers.Serializer):
    path = serializers.CharField(help_text="A JSON path: `$.skills[0].name`.")
    message = serializers.CharField()


class CapabilityKeySerializer(serializers.Serializer):
    kind = serializers.CharField()
    name = serializers.CharField()


class RemovedCapabilitySerializer(CapabilityKeySerializer):
    breaking = serializers.SerializerMethodField(
        help_text="Clients relied on it: a skill, tool, interface or scheme."
    )

    def get_breaking(self, removed) -> bool:
        return removal_breaks_clients(removed["kind"])


class ChangesSerializer(serializers.Serializer):
    """Capabilities that came, went, or say something else than before."""

    added = CapabilityKeySerializer(many=True)
    removed = RemovedCapabilitySerializer(many=True)
    changed = CapabilityKeySerializer(many=True)


class PreviewSerializer(serializers.Serializer):
    """What a definition would be catalogued as."""

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


class ReadingSerializer(serializers.Serializer):
    """A definition examined: every error and warning with its place."""

    valid = serializers.BooleanField()
    protocol = serializers.CharField(allow_blank=True)
    spec_version = serializers.CharField(allow_blank=True)
    errors = ProblemSerializer(many=True)
    warnings = ProblemSerializer(many=True)
    preview = serializers.SerializerMethodField()

    @extend_schema_field(PreviewSerializer(allow_null=True))
    def get_preview(self, reading):
        return PreviewSerializer(reading.record).data if reading.is_valid else None


class OutcomeSerializer(EntryDetailSerializer):
    """The entry, and what registering its definition did."""

    outcome = serializers.ChoiceField(choices=[result.value for result in Result])
    changes = ChangesSerializer(source="changes_made")
    warnings = ProblemSerializer(many=True)

    class Meta(EntryDetailSerializer.Meta):
        fields = [
            "outcome",
            "changes",
            "warnings",
            *EntryDetailSerializer.Meta.fields,
        ]
        read_only_fields = fields


class DefinitionChangeSerializer(ChangesSerializer, serializers.ModelSerializer):
    class Meta:
        model = DefinitionChange
        fields = [
            "recorded_at",
            "previous_version",
            "digest",
            "added",
            "removed",
            "changed",
        ]


class VersionSerializer(serializers.ModelSerializer):
    """One version of the agent, and each change that led to it."""

    current = serializers.BooleanField()
    capability_count = serializers.IntegerField()
    changes = DefinitionChangeSerializer(many=True)

    class Meta:
        model = AgentType
        fields = [
            "version",
            "spec_version",
            "current",
            "digest",
            "capability_count",
            "created_on",
            "changes",
        ]


class KindSerializer(serializers.Serializer):
    slug = serializers.CharField()
    label = serializers.CharField()
    protocol = serializers.CharField()
    discoverable = serializers.BooleanField()


class StatsSerializer(serializers.Serializer):
    """How many, of what; `kind` counts capabilities, the others entries."""

    total = serializers.IntegerField()
    status = serializers.DictField(child=serializers.IntegerField())
    protocol = serializers.DictField(child=serializers.IntegerField())
    source = serializers.DictField(child=serializers.IntegerField())
    kind = serializers.DictField(child=serializers.IntegerField())
