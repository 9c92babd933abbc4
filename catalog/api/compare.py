"""API view that compares agents."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..comparison import (
    ComparedCapability,
    ComparedFeature,
    Comparison,
    NotComparable,
    compare,
    parse_entry_ids,
)
from ..models import CatalogEntry
from .base import CanReadCatalog, CatalogAPIMixin, EntryNotFound, InvalidParameter
from .serializers import CapabilityKeySerializer, EntrySerializer

ID_PARAMETER = OpenApiParameter(
    "id",
    UUID,
    many=True,
    required=True,
    description="IDs of two to four different agents.",
)


class ComparedFeatureSerializer(serializers.Serializer[ComparedFeature]):
    category = serializers.CharField(
        source="section.name",
        help_text="An AG-UI category, `custom`, or `protocol` for features of a single"
        " protocol.",
    )
    category_label = serializers.CharField(source="section.label")
    name = serializers.CharField(source="row.name")
    label = serializers.CharField(  # type: ignore[assignment]  # a declared field
        source="row.label"
    )
    values = serializers.ListField(
        source="row.values",
        child=serializers.JSONField(allow_null=True),
        help_text="One value for each entry; null if the entry does not declare it.",
    )


class ComparedEntrySerializer(EntrySerializer):
    uptime24h = serializers.FloatField(allow_null=True)
    only = CapabilityKeySerializer(
        many=True, help_text="Capabilities that only this entry has."
    )

    class Meta(EntrySerializer.Meta):
        fields = [*EntrySerializer.Meta.fields, "uptime24h", "only"]
        read_only_fields = fields

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Serialize a ComparedEntry."""
        entry = instance.entry
        capabilities = entry.agent_type.capabilities.all()
        entry.capability_count = sum(row.discoverable for row in capabilities)
        entry.technical_count = len(capabilities) - entry.capability_count
        entry.uptime24h, entry.only = instance.uptime, instance.unique
        return super().to_representation(entry)


class SharedCapabilitySerializer(serializers.Serializer[ComparedCapability]):
    kind = serializers.CharField(source="key.kind")
    name = serializers.CharField(source="key.name")
    entries = serializers.ListField(
        source="entry_ids",
        child=serializers.UUIDField(),
        help_text="IDs of the entries that have it.",
    )


class ComparisonSerializer(serializers.Serializer[Comparison]):
    """Features and capabilities of several agents.

    Tools with the same name are the same capability, even in different protocols.
    """

    entries = ComparedEntrySerializer(many=True)
    features = ComparedFeatureSerializer(many=True)
    common = CapabilityKeySerializer(
        many=True, help_text="Capabilities that all entries have."
    )
    shared = SharedCapabilitySerializer(
        many=True, help_text="Capabilities that at least two entries have, but not all."
    )


class CompareView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]
    allowed_parameters = repeatable_parameters = ("id",)

    @extend_schema(
        summary="Compare agents",
        parameters=[ID_PARAMETER],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request) -> Response:
        """Compare features and capabilities of two to four agents of any protocol."""
        try:
            comparison = compare(parse_entry_ids(request.query_params))
        except CatalogEntry.DoesNotExist as error:
            raise EntryNotFound(f"Catalog entry {error} not found") from error
        except NotComparable as error:
            raise InvalidParameter(str(error), parameter="id") from error
        except ValueError as error:
            raise InvalidParameter(f"id {error}", parameter="id") from error
        return Response(ComparisonSerializer(comparison).data)
