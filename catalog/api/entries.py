"""API views of catalog entries, kinds and statistics."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Count, Model, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from capabilities.kinds import kinds
from capabilities.parsers import (
    find_endpoint_error,
    get_media_type,
    parsers,
    try_parse,
)
from capabilities.problems import find_url_error

from .. import registration
from ..filters import StrictEntryFilterSet
from ..health import History
from ..ingestion import EntryChanged, IngestOutcome, IngestResult, curate
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
from .changes import IngestResultSerializer, VersionSerializer
from .health import HealthHistorySerializer, HealthReport, ProbeSerializer
from .serializers import (
    AuthorizationSerializer,
    EmptyBodySerializer,
    EntryDetailSerializer,
    EntryPatchSerializer,
    EntrySerializer,
    ImportSerializer,
    KindSerializer,
    ParseResultSerializer,
    StatsSerializer,
)

INVALID_DEFINITION_RESPONSE = OpenApiResponse(
    ParseResultSerializer,
    description="The definition is not valid. `errors` lists every error with its JSON"
    " path.",
)
PROTOCOL_PARAMETER = OpenApiParameter(
    "protocol",
    str,
    description="Protocol of the definition; detected if not given.",
)
ENDPOINT_PARAMETER = OpenApiParameter(
    "endpoint",
    str,
    description="URL of the agent, for a definition of any protocol that does not"
    " contain it; an error with one that does.",
)
DRY_RUN_PARAMETER = OpenApiParameter(
    "dry_run",
    bool,
    description="Only return what would change, and store nothing.",
)
DEFINITION_BODY = {
    "application/json": OpenApiTypes.OBJECT,
    "text/plain": OpenApiTypes.STR,
}
REGISTER_RESPONSES = {
    201: OpenApiResponse(IngestResultSerializer, "The agent was added."),
    200: OpenApiResponse(
        IngestResultSerializer, "The agent was updated or is unchanged."
    ),
}


class CatalogEntryViewSet(
    CatalogAPIMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    GenericViewSet[CatalogEntry],
):
    queryset = CatalogEntry.objects.for_display()
    serializer_class = EntrySerializer
    filterset_class = StrictEntryFilterSet
    filter_backends = [StrictFilterBackend]
    permission_by_action = {
        "validate": VIEW_PERMISSION,
        "probe": CHANGE_PERMISSION,
        "refresh": CHANGE_PERMISSION,
    }
    parameters_by_action = {
        "list": (*StrictEntryFilterSet.base_filters, *StrictPagination.parameters),
        "validate": ("protocol", "endpoint"),
        "register": ("protocol", "endpoint"),
        "refresh": ("dry_run",),
        "versions": StrictPagination.parameters,
    }
    repeatable_parameters = ("kind", "feature")

    def get_queryset(self) -> QuerySet[CatalogEntry]:
        if self.action == "list":
            return super().get_queryset()
        entries = CatalogEntry.objects.select_related("agent_type__provider")
        return entries.with_capability_counts()

    def get_object(self) -> CatalogEntry:
        try:
            return self.get_queryset().get(pk=self.kwargs["pk"])
        except (CatalogEntry.DoesNotExist, ValidationError) as error:
            raise EntryNotFound from error

    @extend_schema(summary="List agents", examples=[examples.ENTRY_LIST])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List agents with any status, without capabilities and definitions."""
        return super().list(request, *args, **kwargs)

    @extend_schema(summary="Get an agent", responses=EntryDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the entry and its agent type as one flat object."""
        return Response(EntryDetailSerializer(self.get_object()).data)

    @extend_schema(
        summary="Edit an agent",
        request=EntryPatchSerializer,
        responses=EntryDetailSerializer,
        examples=[examples.PATCH],
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the editable fields; `status` deprecates or reactivates the agent."""
        entry = self.get_object()
        changes = get_validated_data(EntryPatchSerializer(data=request.data))
        reason = changes.pop("reason", "")
        curate(entry, changes, by=cast(User, request.user), reason=reason)
        return Response(EntryDetailSerializer(self.get_object()).data)

    @extend_schema(summary="Delete an agent")
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Delete the entry and all versions of its agent."""
        return super().destroy(request, *args, **kwargs)

    @extend_schema(
        summary="Validate a definition",
        parameters=[PROTOCOL_PARAMETER, ENDPOINT_PARAMETER],
        request=DEFINITION_BODY,
        responses={200: ParseResultSerializer, 422: INVALID_DEFINITION_RESPONSE},
        examples=[examples.AGENT_CARD, examples.PARSE_RESULT],
    )
    @action(detail=False, methods=["post"], parser_classes=DEFINITION_PARSERS)
    def validate(self, request: Request) -> Response:
        """Return all errors and warnings, and a preview if the definition is valid.

        Nothing is stored.
        """
        result = try_parse(
            self.get_definition(), self.get_protocol(), self.get_endpoint()
        )
        status = 200 if result.is_valid else 422
        return Response(ParseResultSerializer(result).data, status)

    @extend_schema(
        summary="Register a definition",
        parameters=[PROTOCOL_PARAMETER, ENDPOINT_PARAMETER],
        request=DEFINITION_BODY,
        responses=REGISTER_RESPONSES,
        examples=[examples.AGENT_CARD],
    )
    @action(detail=False, methods=["post"], parser_classes=DEFINITION_PARSERS)
    def register(self, request: Request) -> Response:
        """Add an agent, or update it, from a definition.

        YAML and TOML are also accepted, as text/plain, text/markdown,
        application/yaml, text/yaml or application/toml.
        """
        try:
            result = registration.register(
                self.get_definition(), self.get_protocol(), endpoint=self.get_endpoint()
            )
        except registration.AlreadyDefined as error:
            raise Conflict(str(error)) from error
        return self.build_response(result)

    @extend_schema(
        summary="Import from a URL",
        request=ImportSerializer,
        responses=REGISTER_RESPONSES,
        examples=[examples.IMPORT],
    )
    @action(detail=False, methods=["post"], url_path="import", url_name="import")
    def import_url(self, request: Request) -> Response:
        """Fetch a definition, or introspect a running agent, and register it.

        Tries the URL, introspection of the running agent, the well-known paths below
        the URL, and those of its host. If none has a definition, `details.attempts`
        lists what each answered.
        """
        data = get_validated_data(ImportSerializer(data=request.data))
        try:
            result = registration.import_url(
                data["url"],
                data.get("protocol", ""),
                data.get("authorization", ""),
                data.get("capabilities_url", ""),
                data.get("allow_stub", False),
            )
        except registration.AlreadyDefined as error:
            raise Conflict(str(error)) from error
        return self.build_response(result)

    @extend_schema(
        summary="Get the raw definition",
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "text/plain"): OpenApiTypes.STR,
        },
    )
    @action(detail=True, url_path="card", url_name="card")
    def definition(self, request: Request, pk: str) -> HttpResponse:
        """Return the definition exactly as it was received."""
        agent_type = self.get_object().agent_type
        media_type = get_media_type(agent_type.protocol)
        return HttpResponse(agent_type.definition, content_type=media_type)

    @extend_schema(
        summary="List the versions of an agent",
        responses=VersionSerializer(many=True),
    )
    @action(detail=True, filterset_class=None)
    def versions(self, request: Request, pk: str) -> Response:
        """List all versions, newest first, with the changes of each definition."""
        entry = self.get_object()
        versions: Any = AgentType.objects.versions_for(entry)
        page = self.paginate_queryset(versions) or []
        for version in page:
            version.current = version.pk == entry.agent_type_id
        return self.get_paginated_response(VersionSerializer(page, many=True).data)

    @extend_schema(summary="Probe an agent", request=None, responses=ProbeSerializer)
    @action(detail=True, methods=["post"])
    def probe(self, request: Request, pk: str) -> Response:
        """Probe the agent now and return the outcome and the health of the agent."""
        entry = self.get_object()
        get_validated_data(EmptyBodySerializer(data=request.data))
        if not entry.can_be_probed:
            raise Conflict(registration.CANNOT_BE_PROBED)
        outcome = registration.probe_on_demand(entry)
        return Response(ProbeSerializer({"outcome": outcome, "health": entry}).data)

    @extend_schema(
        summary="Refresh the definition of an agent",
        parameters=[DRY_RUN_PARAMETER],
        request=AuthorizationSerializer,
        responses=IngestResultSerializer,
    )
    @action(detail=True, methods=["post"])
    def refresh(self, request: Request, pk: str) -> Response:
        """Fetch the definition or introspect the agent again, apply changes and probe.

        `changes` lists what differs from the stored definition, field by field, and
        marks what may break clients as `breaking`.
        """
        entry = self.get_object()
        data = get_validated_data(AuthorizationSerializer(data=request.data))
        authorization = data.get("authorization", "")
        try:
            if parse_boolean(request.query_params, "dry_run"):
                result = registration.dry_run_refresh(entry, authorization)
            else:
                result = registration.refresh_entry(entry, authorization)
        except (registration.NotRefreshable, EntryChanged) as error:
            raise Conflict(str(error)) from error
        return self.build_response(result)

    @extend_schema(
        summary="Get the health history of an agent",
        responses=HealthHistorySerializer,
    )
    @action(detail=True)
    def health(self, request: Request, pk: str) -> Response:
        """Return uptime, response times, the latest probes and hourly totals."""
        entry = self.get_object()
        report = HealthReport(entry, History.for_entry(entry))
        return Response(HealthHistorySerializer(report).data)

    def get_definition(self) -> bytes:
        # DRF parses an empty body to an empty dictionary.
        return cast(bytes, self.request.data or b"")

    def get_protocol(self) -> str:
        slug: str = self.request.query_params.get("protocol", "")
        if slug and slug not in parsers:
            slugs = ", ".join(parser.slug for parser in parsers)
            message = f"protocol must be one of: {slugs}"
            raise InvalidParameter(message, parameter="protocol")
        return slug

    def get_endpoint(self) -> str:
        url: str = self.request.query_params.get("endpoint", "")
        if not url:
            return ""
        error = find_url_error(url) or find_endpoint_error(
            self.get_definition(), self.get_protocol()
        )
        if error:
            raise InvalidParameter(f"endpoint {error}", parameter="endpoint")
        return url

    def build_response(self, result: IngestResult) -> Response:
        """Return the stored entry and the result, with its URL if it is new."""
        self.kwargs["pk"] = result.entry.pk
        # The serializer reads the result from attributes of the entry.
        entry: Any = self.get_object()
        entry.outcome, entry.changes_made = result.outcome, result.changes
        entry.warnings = result.warnings
        is_new = result.outcome == IngestOutcome.CREATED
        url = self.reverse_action("detail", [entry.pk])
        return Response(
            IngestResultSerializer(entry).data,
            status=201 if is_new else 200,
            headers={"Location": url} if is_new else {},
        )


class KindViewSet(CatalogAPIMixin, GenericViewSet[Model]):
    serializer_class = KindSerializer
    permission_classes = [CanReadCatalog]
    parameters_by_action = {"list": StrictPagination.parameters}

    @extend_schema(summary="List capability kinds")
    def list(self, request: Request) -> Response:
        """List all kinds of capabilities; only discoverable ones can be searched."""
        page = self.paginate_queryset([*kinds])
        return self.get_paginated_response(KindSerializer(page, many=True).data)


class StatsView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]

    @extend_schema(summary="Get statistics", responses=StatsSerializer)
    def get(self, request: Request) -> Response:
        """Count entries by status, protocol and source, and capabilities by kind."""
        entries = CatalogEntry.objects.order_by()
        current = Capability.objects.filter(agent_type__entry__isnull=False).order_by()
        status = count_by(entries, "status")
        stats = {
            "total": sum(status.values()),
            "status": dict.fromkeys(Status.values, 0) | status,
            "protocol": count_by(entries, "agent_type__protocol"),
            "source": dict.fromkeys(Source.values, 0) | count_by(entries, "source"),
            "kind": count_by(current, "kind"),
        }
        return Response(StatsSerializer(stats).data)


def count_by(rows: QuerySet[Any], field: str) -> dict[str, int]:
    """Return the number of rows for each value of a field."""
    return dict(rows.values_list(field).annotate(Count("pk")).order_by(field))
