"""Serializers of what registering or refreshing definitions changed."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from capabilities.kinds import to_camel_case

from ..ingestion import IngestOutcome
from ..models import AgentType, DefinitionChange, is_breaking_removal
from .serializers import (
    CAPABILITY_COUNT_HELP,
    TECHNICAL_COUNT_HELP,
    CapabilityKeySerializer,
    EntryDetailSerializer,
    ProblemSerializer,
)


class AddedCapabilitySerializer(CapabilityKeySerializer):
    breaking = serializers.SerializerMethodField(
        help_text="Whether it demands something of clients, such as an extension that"
        " is required."
    )

    def get_breaking(self, added: dict[str, Any]) -> bool:
        return bool(added.get("breaking", False))


class RemovedCapabilitySerializer(CapabilityKeySerializer):
    breaking = serializers.SerializerMethodField(
        help_text="Whether clients may depend on it: true for kinds such as skills,"
        " tools, interfaces and security schemes."
    )

    def get_breaking(self, removed: dict[str, Any]) -> bool:
        return is_breaking_removal(removed)


class FieldChangeSerializer(serializers.Serializer[Any]):
    """A change of one field; values over 500 characters are shortened texts."""

    field = serializers.CharField(
        help_text="Name of the field, as in the entry or the capability."
    )
    path = serializers.CharField(
        help_text="Where in the field the change is, such as `address.zip` in a schema;"
        " empty for the whole field."
    )
    to = serializers.JSONField(help_text="The new value; null if there is none.")
    breaking = serializers.BooleanField(
        help_text="Whether clients may fail because of it."
    )
    reason = serializers.CharField(
        help_text="What changed, such as `parameter removed` or `enum narrowed`."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a Python keyword, so the class body cannot declare it.
        fields = super().get_fields()
        before = serializers.JSONField(
            help_text="The former value; null if there was none."
        )
        return {
            name: before if name == "from" else fields[name]
            for name in ("field", "path", "from", "to", "breaking", "reason")
        }


class CapabilityFieldChangeSerializer(FieldChangeSerializer):
    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        name = to_camel_case(instance["field"])
        return super().to_representation(instance | {"field": name})


class ChangedCapabilitySerializer(CapabilityKeySerializer):
    changes = CapabilityFieldChangeSerializer(
        many=True,
        help_text="Breaking ones first. Empty for changes recorded before details"
        " were.",
    )
    omitted = serializers.IntegerField(
        help_text="Number of changes left out, beyond the limits."
    )

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return super().to_representation({"changes": [], "omitted": 0} | instance)


class ChangesSerializer(serializers.Serializer[Any]):
    """What differs between two definitions, and which differences break clients."""

    added = AddedCapabilitySerializer(many=True)
    removed = RemovedCapabilitySerializer(many=True)
    changed = ChangedCapabilitySerializer(many=True)
    fields = FieldChangeSerializer(  # type: ignore[assignment]  # a declared field
        many=True
    )
    breaking = serializers.SerializerMethodField(
        help_text="Whether any of the changes may break clients."
    )
    breaking_count = serializers.IntegerField(
        source="total_breaking", help_text="Number of changes that may break clients."
    )
    breaking_reasons = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why they may break clients: at most 20 sentences.",
    )

    def get_breaking(self, changes: Any) -> bool:
        return bool(changes.total_breaking)


@extend_schema_serializer(component_name="Outcome")
class IngestResultSerializer(EntryDetailSerializer):
    """The entry, and what registering or refreshing its definition changed."""

    outcome = serializers.ChoiceField(
        choices=[outcome.value for outcome in IngestOutcome]
    )
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


class DefinitionChangeSerializer(
    ChangesSerializer, serializers.ModelSerializer[DefinitionChange]
):
    class Meta:
        model = DefinitionChange
        fields = [
            "recorded_at",
            "previous_version",
            "digest",
            "added",
            "removed",
            "changed",
            "fields",
            "breaking",
            "breaking_count",
            "breaking_reasons",
        ]


class VersionSerializer(serializers.ModelSerializer[AgentType]):
    """One version of an agent, with the changes of its definition."""

    current = serializers.BooleanField()
    capability_count = serializers.IntegerField(help_text=CAPABILITY_COUNT_HELP)
    technical_count = serializers.IntegerField(help_text=TECHNICAL_COUNT_HELP)
    changes = DefinitionChangeSerializer(many=True)

    class Meta:
        model = AgentType
        fields = [
            "version",
            "spec_version",
            "current",
            "digest",
            "capability_count",
            "technical_count",
            "created_on",
            "changes",
        ]
