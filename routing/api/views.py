"""API views of the registry."""

import contextlib
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from catalog.api.base import (
    CapabilityNotFound,
    CatalogAPIMixin,
    CatalogPermissions,
    InvalidBody,
    InvalidParameter,
    StrictPagination,
    get_validated_data,
    parse_boolean,
)
from catalog.models import CatalogEntry

from .. import decisions, events, health, service
from ..decisions import RoutingRequest, make_routing_decision
from ..metrics import Report, RequestOutcome, record_report
from ..models import REGISTRATION_STATUSES, CapabilityRegistration, RegistrationQuerySet
from ..provider_query import get_providers
from ..strategies import STRATEGIES
from . import errors, examples
from .listing import CapabilityPage, CapabilityProviders, ListedProvider
from .parameters import (
    CAPABILITY,
    REGISTRATION_ID,
    STRATEGY,
    boolean_parameter,
    string_parameter,
)
from .serializers import (
    DETAIL_LIMIT,
    CapabilitiesSerializer,
    CapabilityHealthSerializer,
    DecisionSerializer,
    RegistrationDetailSerializer,
    RegistrationSerializer,
    RegistrationUpdateSerializer,
    RegistryHealthSerializer,
    ReportSerializer,
)


class RegistryPermissions(CatalogPermissions):
    permission_by_method = {
        "GET": "routing.view_capabilityregistration",
        "HEAD": "routing.view_capabilityregistration",
        "POST": "routing.add_capabilityregistration",
        "PUT": "routing.change_capabilityregistration",
        "DELETE": "routing.delete_capabilityregistration",
    }


class RegistryViewSet(CatalogAPIMixin, ViewSet):
    """Register agents, make routing decisions, record reports and return health."""

    permission_classes = [RegistryPermissions]
    parameters_by_action = {
        "list_capabilities": (
            "capability",
            "agent_id",
            "status",
            "version",
            "include_metadata",
            *StrictPagination.parameters,
        ),
        "find_providers": (
            "version",
            "routing_strategy",
            "include_unhealthy",
            "metadata_filter",
            "peek",
        ),
        "unregister": ("drain",),
        "unregister_reports": ("drain",),
        "unregister_health": ("drain",),
        "registry_health": ("include_healthy", "include_unhealthy"),
    }

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        for name, value in request.query_params.items():
            if "\0" in value:
                raise InvalidParameter(
                    f"{name} must not contain NUL characters", parameter=name
                )

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Replace NUL in path parameters: PostgreSQL rejects it, and no name has it."""
        kwargs = {name: value.replace("\0", "\ufffd") for name, value in kwargs.items()}
        return super().dispatch(request, *args, **kwargs)

    @extend_schema(
        summary="Register an agent for a capability",
        request=RegistrationSerializer,
        responses={201: RegistrationDetailSerializer},
        examples=[examples.REGISTRATION],
    )
    def create(self, request: Request) -> Response:
        """Register the agent as a provider of this capability."""
        fields = dict(get_validated_data(RegistrationSerializer(data=request.data)))
        agent_id, capability = fields.pop("agent_id"), fields.pop("capability")
        entry = service.find_agent(agent_id)
        if entry is None:
            raise errors.AgentNotFound(agent_id=agent_id)
        try:
            registration = service.register(entry, capability, **fields)
        except service.AlreadyRegisteredError as error:
            raise errors.DuplicateRegistration(
                agent_id=str(entry.pk), capability=capability
            ) from error
        except CatalogEntry.DoesNotExist as error:
            raise errors.AgentNotFound(agent_id=str(entry.pk)) from error
        set_state(registration, entry)
        return Response(RegistrationDetailSerializer(registration).data, status=201)

    @extend_schema(
        operation_id="registry_capabilities_list",
        summary="List capabilities and their providers",
        parameters=[
            string_parameter("capability", "Only this capability."),
            string_parameter("agent_id", "Only registrations of this agent."),
            string_parameter(
                "status",
                "Only registrations with this status.",
                enum=REGISTRATION_STATUSES,
            ),
            string_parameter(
                "version", "Only registrations with exactly this version."
            ),
            boolean_parameter(
                "include_metadata", "Include the metadata and all performance metrics."
            ),
            OpenApiParameter(
                "limit",
                int,
                description="Maximum number of capabilities to return: 1 to 200.",
            ),
            OpenApiParameter(
                "offset", int, description="Number of capabilities to skip."
            ),
        ],
        responses=CapabilitiesSerializer,
    )
    def list_capabilities(self, request: Request) -> Response:
        """Return capabilities ordered by name; `limit` counts them, not providers."""
        pagination = StrictPagination()
        limit, offset = pagination.get_limit(request), pagination.get_offset(request)
        with_metadata = parse_boolean(request.query_params, "include_metadata")
        registrations = self.filter_registrations(request.query_params)
        names = registrations.order_by("capability").values_list(
            "capability", flat=True
        )
        page_names = list(names.distinct()[offset : offset + limit])
        groups = {name: CapabilityProviders(name, []) for name in page_names}
        providers = registrations.with_metrics().filter(capability__in=page_names)
        for provider in providers:
            listed = ListedProvider(provider, with_metadata)
            groups[provider.capability].providers.append(listed)
        page = CapabilityPage(
            capabilities=list(groups.values()),
            total=names.distinct().count(),
            limit=limit,
            offset=offset,
        )
        return Response(CapabilitiesSerializer(page).data)

    def filter_registrations(self, query: Mapping[str, str]) -> RegistrationQuerySet:
        """Return the registrations that match all query parameters."""
        registrations = CapabilityRegistration.objects.not_drained().with_state()
        if capability := query.get("capability"):
            registrations = registrations.filter(capability=capability)
        if version := query.get("version"):
            registrations = registrations.filter(version=version)
        if status := query.get("status"):
            if status not in REGISTRATION_STATUSES:
                message = f"status must be one of: {', '.join(REGISTRATION_STATUSES)}"
                raise InvalidParameter(message, parameter="status")
            registrations = registrations.in_status(status)
        if agent_id := query.get("agent_id"):
            entry = service.find_agent(agent_id)
            if entry is None:
                return registrations.none()
            registrations = registrations.filter(entry=entry)
        return registrations

    @extend_schema(
        operation_id="registry_capabilities_find",
        summary="Find providers of a capability",
        parameters=[
            CAPABILITY,
            string_parameter("version", "Only providers with exactly this version."),
            STRATEGY,
            boolean_parameter(
                "include_unhealthy",
                "Also return, after the others, providers that currently receive no"
                " requests.",
            ),
            string_parameter(
                "metadata_filter",
                "A JSON object. Each member must equal the stored value, or be in the"
                " stored list.",
            ),
            boolean_parameter(
                "peek", "With `load_balance`: do not advance the rotation."
            ),
        ],
        responses=DecisionSerializer,
    )
    def find_providers(self, request: Request, key: str) -> Response:
        """Return the providers in the order in which to try them. Never cached.

        With `load_balance`, each GET advances the rotation, unless `peek` is true.
        """
        try:
            decision = make_routing_decision(self.build_routing_request(request, key))
        except decisions.UnknownStrategyError as error:
            raise errors.InvalidStrategy(
                f"routing_strategy must be one of: {', '.join(STRATEGIES)}",
                routing_strategy=str(error),
                available=list(STRATEGIES),
            ) from error
        except decisions.MetadataFilterError as error:
            raise errors.InvalidMetadataFilter(str(error)) from error
        except decisions.NoProvidersError as error:
            raise build_not_found_error(key) from error
        response = DecisionSerializer(decision).data
        return Response(response, headers={"Cache-Control": "no-store"})

    def build_routing_request(
        self, request: Request, capability: str
    ) -> RoutingRequest:
        query = request.query_params
        # HEAD asks for the headers only, so it does not advance the rotation.
        peek = parse_boolean(query, "peek") or request.method == "HEAD"
        return RoutingRequest(
            capability=capability,
            version=query.get("version", ""),
            strategy=query.get("routing_strategy") or decisions.DEFAULT_STRATEGY,
            include_unhealthy=parse_boolean(query, "include_unhealthy"),
            metadata=decisions.parse_metadata_filter(query.get("metadata_filter", "")),
            peek=peek,
        )

    @extend_schema(
        summary="Update a registration",
        parameters=[REGISTRATION_ID],
        request=RegistrationUpdateSerializer,
        responses=RegistrationDetailSerializer,
        examples=[examples.UPDATE],
    )
    def update(self, request: Request, key: str) -> Response:
        """Change the priority, metadata, version, health check URL or status."""
        registration = self.get_registration(key)
        serializer = RegistrationUpdateSerializer(data=request.data)
        changes = dict(get_validated_data(serializer))
        for name in ("agent_id", "capability"):
            value = getattr(registration, name)
            if changes.pop(name, value) != value:
                raise InvalidBody(f"{name} cannot be changed")
        if not changes:
            raise InvalidBody(
                "The body must contain at least one of version, priority, metadata,"
                " health_check_url and status"
            )
        try:
            service.update(registration, changes)
        except CapabilityRegistration.DoesNotExist as error:
            raise errors.RegistrationNotFound(registration_id=key) from error
        updated = self.get_registration(key)
        return Response(RegistrationDetailSerializer(updated).data)

    @extend_schema(
        summary="Unregister an agent from a capability",
        parameters=[
            OpenApiParameter(
                "agent_id",
                str,
                "path",
                description="ID or agent key of a catalog entry.",
            ),
            OpenApiParameter(
                "capability", str, "path", description="Name of the capability."
            ),
            boolean_parameter(
                "drain",
                "Route no new requests to the agent, and remove the registration"
                " later.",
            ),
        ],
        responses={
            204: OpenApiResponse(description="The registration is removed or draining.")
        },
    )
    def unregister(self, request: Request, agent_id: str, capability: str) -> Response:
        """Stop routing requests for this capability to the agent."""
        drain = parse_boolean(request.query_params, "drain")
        entry = service.find_agent(agent_id)
        if entry is None:
            raise errors.AgentNotFound(agent_id=agent_id[:DETAIL_LIMIT])
        registrations = CapabilityRegistration.objects.not_drained()
        registration = registrations.filter(entry=entry, capability=capability).first()
        if registration is None:
            raise errors.RegistrationNotFound(
                agent_id=agent_id, capability=capability[:DETAIL_LIMIT]
            )
        # Removed by a concurrent request: the result is the same.
        with contextlib.suppress(CapabilityRegistration.DoesNotExist):
            service.unregister(registration, drain=drain)
        return Response(status=204)

    @extend_schema(exclude=True)
    def unregister_reports(self, request: Request, key: str) -> Response:
        """Unregister a capability named "reports"."""
        return self.unregister(request, key, "reports")

    @extend_schema(exclude=True)
    def unregister_health(self, request: Request, key: str) -> Response:
        """Answer 404, because "health" is a reserved name."""
        return self.unregister(request, key, "health")

    @extend_schema(
        summary="Report outcomes and load",
        parameters=[REGISTRATION_ID],
        request=ReportSerializer,
        responses={204: OpenApiResponse(description="The report is saved.")},
        examples=[examples.REPORT],
    )
    def report(self, request: Request, key: str) -> Response:
        """Report the outcomes of requests to a provider, and its current load."""
        report = get_validated_data(ReportSerializer(data=request.data))
        outcomes = [
            RequestOutcome(outcome["ok"], outcome.get("response_time_ms"))
            for outcome in report.get("outcomes", [])
        ]
        gauges = {name: report[name] for name in report if name != "outcomes"}
        if not outcomes and not gauges:
            raise InvalidBody(
                "The body must contain outcomes, concurrent_requests, queue_depth or"
                " load_score"
            )
        if not record_report(key, Report(outcomes, gauges)):
            raise errors.RegistrationNotFound(registration_id=key[:DETAIL_LIMIT])
        return Response(status=204)

    @extend_schema(
        operation_id="registry_capability_health",
        summary="Get the health of a capability",
        parameters=[CAPABILITY],
        responses=CapabilityHealthSerializer,
    )
    def capability_health(self, request: Request, key: str) -> Response:
        """Return the health of each provider, and of the capability as a whole."""
        providers = get_providers(key)
        if not providers:
            raise build_not_found_error(key)
        summary = health.summarize_capability(key, providers)
        return Response(CapabilityHealthSerializer(summary).data)

    @extend_schema(
        operation_id="registry_health",
        summary="Get the health of all capabilities",
        parameters=[
            boolean_parameter(
                "include_healthy", "List healthy capabilities.", default=True
            ),
            boolean_parameter(
                "include_unhealthy", "List unhealthy capabilities.", default=True
            ),
        ],
        responses=RegistryHealthSerializer,
    )
    def registry_health(self, request: Request) -> Response:
        """Return counts over all capabilities, and a list of capabilities.

        The parameters only affect the list. It contains degraded capabilities unless
        both parameters are false.
        """
        query = request.query_params
        include_healthy = parse_boolean(query, "include_healthy", default=True)
        include_unhealthy = parse_boolean(query, "include_unhealthy", default=True)
        inclusion_by_health = {
            "healthy": include_healthy,
            "unhealthy": include_unhealthy,
            "degraded": include_healthy or include_unhealthy,
        }
        excluded = [
            health_value
            for health_value, is_included in inclusion_by_health.items()
            if not is_included
        ]
        summary = health.summarize_registry(excluded)
        return Response(RegistryHealthSerializer(summary).data)

    def get_registration(self, key: str) -> CapabilityRegistration:
        """Return the registration with its state, or raise RegistrationNotFound."""
        registrations = CapabilityRegistration.objects.not_drained().with_state()
        registration = registrations.filter(pk=key).first()
        if registration is None:
            raise errors.RegistrationNotFound(registration_id=key[:DETAIL_LIMIT])
        return registration


def set_state(registration: CapabilityRegistration, entry: CatalogEntry) -> None:
    """Set the annotations of `with_state` that responses need, without a query.

    Another request may already have removed the new registration from the database.
    """
    registration.state = events.get_current_state(registration)
    registration.agent_probed_at = entry.last_probed_at


def build_not_found_error(capability: str) -> CapabilityNotFound:
    return CapabilityNotFound(
        capability=capability[:DETAIL_LIMIT],
        available_capabilities=decisions.suggest_capabilities(capability),
    )
