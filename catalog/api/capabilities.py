"""API views that search capabilities and list the agents that offer one."""

from typing import Any, cast

from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema,
    extend_schema_serializer,
)
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from capabilities.kinds import discoverable_kinds

from .. import search
from ..filters import CapabilitySearchForm
from ..models import Capability, split_key
from . import examples
from .base import (
    CapabilityNotFound,
    CatalogAPIMixin,
    InvalidKey,
    InvalidParameter,
    StrictPagination,
)
from .health import HealthSerializer
from .serializers import CapabilityKeySerializer, ProviderSerializer, build_snippet


class CapabilityInstanceSerializer(serializers.Serializer[Any]):
    """A capability of one agent."""

    kind = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(child=serializers.CharField(), allow_null=True)
    input_modes = serializers.ListField(child=serializers.CharField(), allow_null=True)
    output_modes = serializers.ListField(child=serializers.CharField(), allow_null=True)
    agent_id = serializers.UUIDField()
    agent_name = serializers.CharField()
    protocol = serializers.CharField()
    status = serializers.CharField()
    spec_version = serializers.CharField(allow_blank=True)
    provider_org = serializers.CharField(allow_null=True)
    provider_url = serializers.CharField(allow_null=True)
    health_state = serializers.CharField()
    latency_ms = serializers.IntegerField()


@extend_schema_serializer(component_name="Offer")
class OfferingAgentSerializer(serializers.Serializer[Capability]):
    """An agent that offers a capability, and the capability as it declares it."""

    id = serializers.UUIDField(source="agent_type.entry.id")
    display_name = serializers.CharField(source="agent_type.entry.display_name")
    protocol = serializers.CharField(source="agent_type.protocol")
    provider = ProviderSerializer(source="agent_type.provider", allow_null=True)
    health = HealthSerializer(source="agent_type.entry")
    spec_version = serializers.CharField(source="agent_type.spec_version")
    status = serializers.CharField(source="agent_type.entry.status")
    capability_snippet = serializers.SerializerMethodField()

    def get_capability_snippet(self, capability: Capability) -> dict[str, Any]:
        return build_snippet(capability)


class CapabilityDetailSerializer(serializers.Serializer[dict[str, Any]]):
    capability = CapabilityKeySerializer()
    agents = OfferingAgentSerializer(many=True)


class CapabilityViewSet(CatalogAPIMixin, GenericViewSet[Capability]):
    queryset = Capability.objects.all()
    serializer_class = CapabilityInstanceSerializer
    lookup_field = "key"
    parameters_by_action = {"list": ("q", "kind", "sort", *StrictPagination.parameters)}

    @extend_schema(
        summary="Search capabilities",
        parameters=[
            OpenApiParameter(
                "q", str, description=CapabilitySearchForm.help_texts["q"]
            ),
            OpenApiParameter(
                "kind", str, description=CapabilitySearchForm.help_texts["kind"]
            ),
            OpenApiParameter(
                "sort",
                str,
                enum=[value for value, _ in search.SORTS],
                default="name_asc",
            ),
        ],
        examples=[examples.CAPABILITY_LIST],
    )
    def list(self, request: Request) -> Response:
        """Return one item for each capability of each active or degraded agent."""
        form = CapabilitySearchForm(request.query_params)
        if not form.is_valid():
            name, messages = next(iter(form.errors.items()))
            raise InvalidParameter(f"{name}: {messages[0]}", parameter=name)
        paginator = cast(StrictPagination, self.paginator)
        limit, offset = paginator.get_limit(request), paginator.get_offset(request)
        page = search.search_capabilities(form.search_query(), limit, offset)
        return Response({"total": page.total, "items": page.items})

    @extend_schema(
        summary="Get the agents that offer a capability",
        parameters=[
            OpenApiParameter(
                "key",
                str,
                OpenApiParameter.PATH,
                description="Kind and name as `kind::name`, percent-encoded.",
            )
        ],
        responses=CapabilityDetailSerializer,
        examples=[examples.CAPABILITY_DETAIL],
    )
    def retrieve(self, request: Request, key: str) -> Response:
        """Return all agents that offer the capability, with any status."""
        parts = split_key(key)
        if parts is None:
            raise InvalidKey
        kind, name = parts
        offers = Capability.objects.current_offers(kind, name)
        if kind not in discoverable_kinds() or not offers:
            raise CapabilityNotFound
        detail = {"capability": {"kind": kind, "name": name}, "agents": offers}
        return Response(CapabilityDetailSerializer(detail).data)
