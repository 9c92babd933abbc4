"""Agents side by side, for programs."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from ..comparison import ComparedEntry, NotComparable, compare, parse_entry_ids
from ..models import CatalogEntry
from .base import CanReadCatalog, CatalogAPIMixin, EntryNotFound, InvalidParameter
from .serializers import CapabilityKeySerializer, EntrySerializer

IDS = OpenApiParameter(
    "id", UUID, many=True, required=True, description="Two to four, each once."
)


class ComparedFeatureSerializer(serializers.Serializer):
    category = serializers.CharField(
        source="section.name",
        help_text="AG-UI's own, `custom`, or `protocol` for what no other speaks of.",
    )
    category_label = serializers.CharField(source="section.label")
    name = serializers.CharField(source="row.name")
    label = serializers.CharField(source="row.label")
    values = serializers.ListField(
        source="row.values",
        child=serializers.JSONField(allow_null=True),
        help_text="One for each entry; null is not declared, which is not false.",
    )


class ComparedEntrySerializer(EntrySerializer):
    uptime24h = serializers.FloatField(allow_null=True)
    only = CapabilityKeySerializer(
        many=True, help_text="Capabilities that none of the others has."
    )

    class Meta(EntrySerializer.Meta):
        fields = [*EntrySerializer.Meta.fields, "uptime24h", "only"]
        read_only_fields = fields

    def to_representation(self, compared: ComparedEntry) -> dict[str, Any]:
        """Read the entry, with what only the comparison knows of it."""
        entry = compared.entry
        entry.capability_count = len(entry.agent_type.capabilities.all())
        entry.uptime24h, entry.only = compared.uptime, compared.unique
        return super().to_representation(entry)


class SharedCapabilitySerializer(serializers.Serializer):
    kind = serializers.CharField(source="key.kind")
    name = serializers.CharField(source="key.name")
    entries = serializers.ListField(
        child=serializers.UUIDField(), help_text="Those that have it."
    )


class ComparisonSerializer(serializers.Serializer):
    """A tool is the same as another of its name, whatever their protocols."""

    entries = ComparedEntrySerializer(many=True)
    features = ComparedFeatureSerializer(many=True)
    common = CapabilityKeySerializer(many=True, help_text="What all of them have.")
    shared = SharedCapabilitySerializer(
        many=True, help_text="What several have, and not all."
    )


class CompareView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]
    allowed_parameters = repeatable_parameters = ("id",)

    @extend_schema(
        summary="Compare agents", parameters=[IDS], responses=ComparisonSerializer
    )
    def get(self, request):
        """Two to four of any protocols: what each declares, what only one has."""
        try:
            comparison = compare(parse_entry_ids(request.query_params))
        except CatalogEntry.DoesNotExist as error:
            raise EntryNotFound from error
        except NotComparable as error:
            raise InvalidParameter(str(error), parameter="id") from error
        except ValueError as error:
            raise InvalidParameter("id must be a UUID", parameter="id") from error
        return Response(ComparisonSerializer(comparison).data)
