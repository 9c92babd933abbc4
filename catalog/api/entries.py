"""The catalog over HTTP: each view translates, and calls what does the work."""

from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from capabilities.kinds import kinds
from capabilities.parsers import media_type_for, parsers, try_parse
from capabilities.problems import url_error

from .. import registration
from ..filters import CatalogEntryFilterSet
from ..health import History
from ..ingestion import EntryChanged, Result, curate
from ..models import AgentType, Capability, CatalogEntry, Source, Status
from . import examples
from .base import (
    CHANGE_PERMISSION,
    DEFINITION_PARSERS,
    VIEW_PERMISSION,
    CanReadCatalog,
    CatalogAPIMixin,
    Conflict,
    EntryNotFound,
    InvalidParameter,
    StrictFilterBackend,
    StrictPagination,
    get_validated_data,
    parse_boolean,
)
from .health import HealthHistorySerializer, ProbeSerializer
from .serializers import (
    AuthorizationSerializer,
    EntryDetailSerializer,
    EntryPatchSerializer,
    EntrySerializer,
    ImportSerializer,
    KindSerializer,
    NothingSerializer,
    OutcomeSerializer,
    ReadingSerializer,
    StatsSerializer,
    VersionSerializer,
)

PROTOCOL = OpenApiParameter(
    "protocol", str, description="The definition's protocol, instead of detecting it."
)
ENDPOINT = OpenApiParameter(
    "endpoint", str, description="Where the agent is, if its definition does not say."
)
DRY_RUN = OpenApiParameter(
    "dry_run", bool, description="Only say what would change; nothing is stored."
)
DEFINITION = {"application/json": OpenApiTypes.OBJECT, "text/plain": OpenApiTypes.STR}


class CatalogEntryViewSet(
    CatalogAPIMixin, mixins.ListModelMixin, mixins.DestroyModelMixin, GenericViewSet
):
    """Catalogued agents."""

    queryset = CatalogEntry.objects.for_display()
    serializer_class = EntrySerializer
    filterset_class = CatalogEntryFilterSet
    filter_backends = [StrictFilterBackend]
    permission_by_action = {
        "validate": VIEW_PERMISSION,
        "probe": CHANGE_PERMISSION,
        "refresh": CHANGE_PERMISSION,
    }
    parameters_by_action = {
        "list": (*CatalogEntryFilterSet.base_filters, *StrictPagination.parameters),
        "validate": ("protocol", "endpoint"),
        "register": ("protocol", "endpoint"),
        "refresh": ("dry_run",),
        "versions": StrictPagination.parameters,
    }
    repeatable_parameters = ("kind", "feature")

    def get_queryset(self):
        if self.action == "list":
            return super().get_queryset()
        whole = CatalogEntry.objects.select_related("agent_type__provider")
        return whole.with_capability_count()

    def get_object(self):
        try:
            return self.get_queryset().get(pk=self.kwargs["pk"])
        except (CatalogEntry.DoesNotExist, ValidationError) as error:
            raise EntryNotFound from error

    @extend_schema(summary="List agents", examples=[examples.ENTRY_LIST])
    def list(self, request, *args, **kwargs):
        """Catalogued agents, all statuses, without capabilities and raw definition."""
        return super().list(request, *args, **kwargs)

    @extend_schema(summary="Read one agent", responses=EntryDetailSerializer)
    def retrieve(self, request, pk):
        """The entry and what its agent is, as one flat object."""
        return Response(EntryDetailSerializer(self.get_object()).data)

    @extend_schema(
        summary="Curate an agent",
        request=EntryPatchSerializer,
        responses=EntryDetailSerializer,
        examples=[examples.PATCH],
    )
    def partial_update(self, request, pk):
        """Change curated fields; `status` deprecates or reactivates."""
        entry = self.get_object()
        changes = get_validated_data(EntryPatchSerializer(data=request.data))
        reason = changes.pop("reason", "")
        curate(entry, changes, by=request.user, reason=reason)
        return Response(EntryDetailSerializer(self.get_object()).data)

    @extend_schema(summary="Remove an agent")
    def destroy(self, request, *args, **kwargs):
        """Remove the entry and every version of its agent."""
        return super().destroy(request, *args, **kwargs)

    @extend_schema(
        summary="Examine a definition",
        parameters=[PROTOCOL, ENDPOINT],
        request=DEFINITION,
        responses={200: ReadingSerializer, 422: ReadingSerializer},
        examples=[examples.AGENT_CARD, examples.READING],
    )
    @action(detail=False, methods=["post"], parser_classes=DEFINITION_PARSERS)
    def validate(self, request):
        """Every error and warning with its JSON path, and a preview; stores nothing."""
        reading = try_parse(self.definition(), self.protocol(), self.endpoint())
        return Response(
            ReadingSerializer(reading).data, 200 if reading.is_valid else 422
        )

    @extend_schema(
        summary="Register a definition",
        parameters=[PROTOCOL, ENDPOINT],
        request=DEFINITION,
        responses={
            201: OpenApiResponse(OutcomeSerializer, "A new agent."),
            200: OpenApiResponse(OutcomeSerializer, "Updated, or unchanged."),
        },
        examples=[examples.AGENT_CARD],
    )
    @action(detail=False, methods=["post"], parser_classes=DEFINITION_PARSERS)
    def register(self, request):
        """Add an agent, or bring it up to date, from its own definition.

        YAML and TOML also come as text/markdown, application/yaml, application/toml.
        """
        given = self.definition(), self.protocol()
        return self.told(registration.register(*given, endpoint=self.endpoint()))

    @extend_schema(
        summary="Import from a URL",
        request=ImportSerializer,
        responses={
            201: OpenApiResponse(OutcomeSerializer, "A new agent."),
            200: OpenApiResponse(OutcomeSerializer, "Updated, or unchanged."),
        },
        examples=[examples.IMPORT],
    )
    @action(detail=False, methods=["post"], url_path="import", url_name="import")
    def import_url(self, request):
        """Fetch a definition, or ask a running MCP server, and register what it says.

        A bare host is asked at the known paths.
        """
        asked = get_validated_data(ImportSerializer(data=request.data))
        return self.told(registration.import_url(**asked))

    @extend_schema(
        summary="Read the raw definition",
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "text/plain"): OpenApiTypes.STR,
        },
    )
    @action(detail=True)
    def card(self, request, pk):
        """The exact bytes received."""
        agent_type = self.get_object().agent_type
        media_type = media_type_for(agent_type.protocol)
        return HttpResponse(agent_type.definition, content_type=media_type)

    @extend_schema(
        summary="List the versions of an agent",
        responses=VersionSerializer(many=True),
    )
    @action(detail=True, filterset_class=None)
    def versions(self, request, pk):
        """Every version known, newest first, with what changed on the way."""
        entry = self.get_object()
        page = self.paginate_queryset(AgentType.objects.versions_for(entry))
        for version in page:
            version.current = version.pk == entry.agent_type_id
        return self.get_paginated_response(VersionSerializer(page, many=True).data)

    @extend_schema(
        summary="Probe an agent now", request=None, responses=ProbeSerializer
    )
    @action(detail=True, methods=["post"])
    def probe(self, request, pk):
        """Ask the agent whether it lives, and tell how it is now."""
        entry = self.get_object()
        get_validated_data(NothingSerializer(data=request.data))
        if not entry.can_be_probed:
            raise Conflict("This agent is never probed")
        outcome = registration.probe_on_demand(entry)
        return Response(ProbeSerializer({"outcome": outcome, "health": entry}).data)

    @extend_schema(
        summary="Refresh an agent's definition",
        parameters=[DRY_RUN],
        request=AuthorizationSerializer,
        responses=OutcomeSerializer,
    )
    @action(detail=True, methods=["post"])
    def refresh(self, request, pk):
        """Fetch or introspect again, say what changed, apply it and probe.

        What went away and clients relied on is marked `breaking`.
        """
        entry = self.get_object()
        asked = get_validated_data(AuthorizationSerializer(data=request.data))
        try:
            if parse_boolean(request.query_params, "dry_run"):
                return self.told(registration.dry_run_refresh(entry, **asked))
            return self.told(registration.refresh_entry(entry, **asked))
        except (registration.NotRefreshable, EntryChanged) as error:
            raise Conflict(str(error)) from error

    @extend_schema(
        summary="Read how an agent has been", responses=HealthHistorySerializer
    )
    @action(detail=True)
    def health(self, request, pk):
        """Uptime over a day, a week and ninety days; latency; the latest probes."""
        entry = self.get_object()
        told = {"entry": entry, "history": History.for_entry(entry)}
        return Response(HealthHistorySerializer(told).data)

    def definition(self) -> bytes:
        """The body; of an empty one the framework makes a dictionary."""
        return self.request.data or b""

    def protocol(self) -> str:
        slug = self.request.query_params.get("protocol", "")
        if slug and slug not in parsers:
            known = ", ".join(parser.slug for parser in parsers)
            message = f"protocol must be one of: {known}"
            raise InvalidParameter(message, parameter="protocol")
        return slug

    def endpoint(self) -> str:
        url = self.request.query_params.get("endpoint", "")
        if url and (fault := url_error(url)):
            raise InvalidParameter(f"endpoint {fault}", parameter="endpoint")
        return url

    def told(self, outcome) -> Response:
        """The entry as it now is, with what was done, and where to find it."""
        self.kwargs["pk"] = outcome.entry.pk
        entry = self.get_object()
        entry.outcome, entry.changes_made = outcome.result, outcome.changes
        entry.warnings = outcome.warnings
        created = outcome.result == Result.CREATED
        place = self.reverse_action("detail", [entry.pk])
        return Response(
            OutcomeSerializer(entry).data,
            status=201 if created else 200,
            headers={"Location": place} if created else {},
        )


class KindViewSet(CatalogAPIMixin, mixins.ListModelMixin, GenericViewSet):
    serializer_class = KindSerializer
    permission_classes = [CanReadCatalog]
    parameters_by_action = {"list": StrictPagination.parameters}

    def get_queryset(self):
        return list(kinds)

    @extend_schema(summary="List capability kinds")
    def list(self, request, *args, **kwargs):
        """The kinds of capability this catalog knows, and which can be searched."""
        return super().list(request, *args, **kwargs)


class StatsView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]

    @extend_schema(summary="Count the catalog", responses=StatsSerializer)
    def get(self, request):
        """Entries by status, protocol and source; capabilities by kind."""
        entries = CatalogEntry.objects.order_by()
        current = Capability.objects.filter(agent_type__entry__isnull=False).order_by()
        status = counts(entries, "status")
        stats = {
            "total": sum(status.values()),
            "status": dict.fromkeys(Status.values, 0) | status,
            "protocol": counts(entries, "agent_type__protocol"),
            "source": dict.fromkeys(Source.values, 0) | counts(entries, "source"),
            "kind": counts(current, "kind"),
        }
        return Response(StatsSerializer(stats).data)


def counts(rows, field) -> dict[str, int]:
    return dict(rows.values_list(field).annotate(Count("pk")).order_by(field))
