"""Which agent can do X: seed 000's two routes."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
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
from .serializers import CapabilityKeySerializer, ProviderSerializer, snippet


class CapabilityInstanceSerializer(serializers.Serializer):
    """One capability of one agent, as lists show it."""

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


class OfferSerializer(serializers.Serializer):
    """An agent that offers a capability, and its own words for it."""

    id = serializers.UUIDField(source="agent_type.entry.id")
    display_name = serializers.CharField(source="agent_type.entry.display_name")
    protocol = serializers.CharField(source="agent_type.protocol")
    provider = ProviderSerializer(source="agent_type.provider", allow_null=True)
    health = HealthSerializer(source="agent_type.entry")
    spec_version = serializers.CharField(source="agent_type.spec_version")
    status = serializers.CharField(source="agent_type.entry.status")
    capability_snippet = serializers.SerializerMethodField()

    def get_capability_snippet(self, capability) -> dict:
        return snippet(capability)


class CapabilityDetailSerializer(serializers.Serializer):
    capability = CapabilityKeySerializer()
    agents = OfferSerializer(many=True)


class CapabilityViewSet(CatalogAPIMixin, GenericViewSet):
    """What agents can do."""

    queryset = Capability.objects.all()
    serializer_class = CapabilityInstanceSerializer
    lookup_field = "key"
    parameters_by_action = {"list": ("q", "kind", "sort", *StrictPagination.parameters)}

    @extend_schema(
        summary="Find capabilities",
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
    def list(self, request):
        """One item per capability per agent that is active or degraded."""
        form = CapabilitySearchForm(request.query_params)
        if not form.is_valid():
            name, messages = next(iter(form.errors.items()))
            raise InvalidParameter(f"{name}: {messages[0]}", parameter=name)
        paginator = self.paginator
        limit, offset = paginator.get_limit(request), paginator.get_offset(request)
        page = search.search_capabilities(form.search_query(), limit, offset)
        return Response({"total": page.total, "items": page.items})

    @extend_schema(
        summary="Who offers a capability",
        parameters=[
            OpenApiParameter(
                "key",
                str,
                OpenApiParameter.PATH,
                description="`kind::name`, percent-encoded.",
            )
        ],
        responses=CapabilityDetailSerializer,
        examples=[examples.CAPABILITY_DETAIL],
    )
    def retrieve(self, request, key):
        """Every agent that offers it, in all statuses, each with its own snippet."""
        parts = split_key(key)
        if parts is None:
            raise InvalidKey
        kind, name = parts
        offers = Capability.objects.current_offers(kind, name)
        if kind not in discoverable_kinds() or not offers:
            raise CapabilityNotFound
        found = {"capability": {"kind": kind, "name": name}, "agents": offers}
        return Response(CapabilityDetailSerializer(found).data)
