"""Seed 001 over HTTP: each view translates, and calls what does the work."""

import contextlib

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
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
from ..decisions import RoutingRequest, decide
from ..metrics import Report, RequestOutcome, record_report
from ..models import STATUSES, CapabilityRegistration
from ..provider_query import get_providers
from ..strategies import STRATEGIES
from . import errors, examples
from .listing import CapabilityProviders, ListedProvider, Page
from .serializers import (
    CapabilitiesSerializer,
    CapabilityHealthSerializer,
    DecisionSerializer,
    RegistrationSerializer,
    RegistrationToldSerializer,
    RegistryHealthSerializer,
    ReportSerializer,
    UpdateSerializer,
)

REGISTRATION_ID = OpenApiParameter("key", str, "path", description="`cap-reg-...`")
CAPABILITY = OpenApiParameter("key", str, "path", description="A capability's name.")


def flag(name: str, description: str, default: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, bool, description=description, default=default)


def text(name: str, description: str, **more) -> OpenApiParameter:
    return OpenApiParameter(name, str, description=description, **more)


STRATEGY = text(
    "routing_strategy", "How to order.", enum=list(STRATEGIES), default="priority"
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
    """Which agents take traffic for a named capability, and which one takes it next."""

    permission_classes = [RegistryPermissions]
    parameters_by_action = {
        "discover": (
            "capability",
            "agent_id",
            "status",
            "version",
            "include_metadata",
            *StrictPagination.parameters,
        ),
        "find": (
            "version",
            "routing_strategy",
            "include_unhealthy",
            "metadata_filter",
            "peek",
        ),
        "unregister": ("drain",),
        "unregister_reports": ("drain",),
        "unregister_health": ("drain",),
        "everything": ("include_healthy", "include_unhealthy"),
    }

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        for name, value in request.query_params.items():
            if "\0" in value:
                raise InvalidParameter(f"{name} holds a NUL", parameter=name)

    def dispatch(self, request, *args, **kwargs):
        """No name holds a NUL, and PostgreSQL does not even take one in a question."""
        named = {name: text.replace("\0", "\ufffd") for name, text in kwargs.items()}
        return super().dispatch(request, *args, **named)

    @extend_schema(
        summary="Register a capability of an agent",
        request=RegistrationSerializer,
        responses={201: RegistrationToldSerializer},
        examples=[examples.REGISTRATION],
    )
    def create(self, request):
        """From now on requests for this capability may go to this agent."""
        offer = dict(get_validated_data(RegistrationSerializer(data=request.data)))
        entry = service.find_agent(offer.pop("agent_id"))
        if entry is None:
            raise errors.AgentNotFound(agent_id=request.data["agent_id"])
        capability = offer.pop("capability")
        try:
            made = service.register(entry, capability, **offer)
        except service.AlreadyRegisteredError as error:
            told = {"agent_id": str(entry.pk), "capability": capability}
            raise errors.DuplicateRegistration(**told) from error
        except CatalogEntry.DoesNotExist as error:
            raise errors.AgentNotFound(agent_id=str(entry.pk)) from error
        registered = RegistrationToldSerializer(with_state_of(made, entry))
        return Response(registered.data, status=201)

    @extend_schema(
        operation_id="registry_capabilities_list",
        summary="List capabilities and their providers",
        parameters=[
            text("capability", "Only this one."),
            text("agent_id", "Only what this agent offers."),
            text("status", "Only registrations of this status.", enum=STATUSES),
            text("version", "Only this version, exactly."),
            flag("include_metadata", "With metadata and all performance metrics."),
            OpenApiParameter("limit", int, description="1 to 200, of capabilities."),
            OpenApiParameter("offset", int),
        ],
        responses=CapabilitiesSerializer,
    )
    def discover(self, request):
        """By name; paging counts capabilities, not providers."""
        pages = StrictPagination()
        limit, offset = pages.get_limit(request), pages.get_offset(request)
        with_metadata = parse_boolean(request.query_params, "include_metadata")
        found = self.filtered(request.query_params)
        names = found.order_by("capability").values_list("capability", flat=True)
        page = list(names.distinct()[offset : offset + limit])
        groups = {name: CapabilityProviders(name, []) for name in page}
        for one in found.with_metrics().filter(capability__in=page):
            listed = ListedProvider(one, with_metadata)
            groups[one.capability].providers.append(listed)
        total = names.distinct().count()
        listing = Page(list(groups.values()), total, limit, offset)
        return Response(CapabilitiesSerializer(listing).data)

    def filtered(self, asked):
        """Registrations that every parameter lets through."""
        found = CapabilityRegistration.objects.present().with_state()
        for name in ("capability", "version"):
            if value := asked.get(name):
                found = found.filter(**{name: value})
        if status := asked.get("status"):
            if status not in STATUSES:
                message = f"status must be one of: {', '.join(STATUSES)}"
                raise InvalidParameter(message, parameter="status")
            found = found.with_status(status)
        if agent_id := asked.get("agent_id"):
            entry = service.find_agent(agent_id)
            found = found.filter(entry=entry) if entry else found.none()
        return found

    @extend_schema(
        operation_id="registry_capabilities_find",
        summary="Find agents for a capability",
        parameters=[
            CAPABILITY,
            text("version", "Only this version, exactly."),
            STRATEGY,
            flag("include_unhealthy", "Also those that take no traffic now, last."),
            text(
                "metadata_filter",
                "A JSON object: every member must match, or be in a stored list.",
            ),
            flag("peek", "With `load_balance`: do not count this as a request."),
        ],
        responses=DecisionSerializer,
    )
    def find(self, request, key):
        """Providers in the order to try them; never cached.

        `load_balance` moves on with each call.
        """
        try:
            decision = decide(self.question(key, request))
        except decisions.UnknownStrategyError as error:
            known = {"routing_strategy": str(error), "available": list(STRATEGIES)}
            raise errors.InvalidStrategy(**known) from error
        except decisions.MetadataFilterError as error:
            raise errors.InvalidMetadataFilter(str(error)) from error
        except decisions.NoProvidersError as error:
            raise nobody_offers(key) from error
        found = DecisionSerializer(decision)
        return Response(found.data, headers={"Cache-Control": "no-store"})

    def question(self, capability, request) -> RoutingRequest:
        """Who only wants to see the headers sends no request to anybody."""
        asked = request.query_params
        return RoutingRequest(
            capability=capability,
            version=asked.get("version", ""),
            strategy=asked.get("routing_strategy") or decisions.DEFAULT_STRATEGY,
            include_unhealthy=parse_boolean(asked, "include_unhealthy"),
            metadata=decisions.parse_metadata_filter(asked.get("metadata_filter", "")),
            peek=parse_boolean(asked, "peek") or request.method == "HEAD",
        )

    @extend_schema(
        summary="Update a registration",
        parameters=[REGISTRATION_ID],
        request=UpdateSerializer,
        responses=RegistrationToldSerializer,
        examples=[examples.UPDATE],
    )
    def update(self, request, key):
        """Change its priority, metadata, version, health check or status."""
        registration = self.known(key)
        changes = dict(get_validated_data(UpdateSerializer(data=request.data)))
        for fixed in ("agent_id", "capability"):
            same = getattr(registration, fixed)
            if changes.pop(fixed, same) != same:
                raise InvalidBody(f"{fixed} cannot be changed")
        if not changes:
            raise InvalidBody("There is nothing to change")
        try:
            service.update(registration, changes)
        except CapabilityRegistration.DoesNotExist as error:
            raise errors.RegistrationNotFound(registration_id=key) from error
        return Response(RegistrationToldSerializer(self.known(key)).data)

    @extend_schema(
        summary="Unregister a capability of an agent",
        parameters=[
            OpenApiParameter("agent_id", str, "path"),
            OpenApiParameter("capability", str, "path"),
            flag("drain", "Take no more traffic now, and be removed a little later."),
        ],
        responses={204: OpenApiResponse(description="It is, or is being, removed.")},
    )
    def unregister(self, request, agent_id, capability):
        """Take the offer back."""
        drain = parse_boolean(request.query_params, "drain")
        entry = service.find_agent(agent_id)
        if entry is None:
            raise errors.AgentNotFound(agent_id=agent_id[:128])
        offers = CapabilityRegistration.objects.present()
        offered = offers.filter(entry=entry, capability=capability).first()
        if offered is None:
            told = {"agent_id": agent_id, "capability": capability[:128]}
            raise errors.RegistrationNotFound(**told)
        # Gone meanwhile is gone all the same.
        with contextlib.suppress(CapabilityRegistration.DoesNotExist):
            service.unregister(offered, drain=drain)
        return Response(status=204)

    @extend_schema(exclude=True)
    def unregister_reports(self, request, key):
        """A capability may be called so, and its address is that of reports."""
        return self.unregister(request, key, "reports")

    @extend_schema(exclude=True)
    def unregister_health(self, request, key):
        """None can be called so, and therefore none is found."""
        return self.unregister(request, key, "health")

    @extend_schema(
        summary="Report requests",
        parameters=[REGISTRATION_ID],
        request=ReportSerializer,
        responses={204: OpenApiResponse(description="Taken in.")},
        examples=[examples.REPORT],
    )
    def report(self, request, key):
        """How requests to a provider went, and how busy it is."""
        told = dict(get_validated_data(ReportSerializer(data=request.data)))
        outcomes = [
            RequestOutcome(o["ok"], o.get("response_time_ms"))
            for o in told.pop("outcomes", [])
        ]
        if not outcomes and not told:
            raise InvalidBody("There is nothing to report")
        if not record_report(key, Report(outcomes, told)):
            raise errors.RegistrationNotFound(registration_id=key[:128])
        return Response(status=204)

    @extend_schema(
        operation_id="registry_capability_health",
        summary="Check the health of a capability",
        parameters=[CAPABILITY],
        responses=CapabilityHealthSerializer,
    )
    def health(self, request, key):
        """How each provider is, and what that makes of the capability."""
        found = get_providers(key)
        if not found:
            raise nobody_offers(key)
        capability = health.summarize_capability(key, found)
        return Response(CapabilityHealthSerializer(capability).data)

    @extend_schema(
        operation_id="registry_health",
        summary="Check the health of all capabilities",
        parameters=[
            flag("include_healthy", "List those that are healthy.", default=True),
            flag("include_unhealthy", "List those that are unhealthy.", default=True),
        ],
        responses=RegistryHealthSerializer,
    )
    def everything(self, request):
        """Counted over all; the list can leave the healthy or unhealthy ones out."""
        asked = request.query_params
        well, ill = (
            parse_boolean(asked, f"include_{word}", default=True)
            for word in ("healthy", "unhealthy")
        )
        listed = {"healthy": well, "unhealthy": ill, "degraded": well or ill}
        left_out = [word for word, wanted in listed.items() if not wanted]
        return Response(
            RegistryHealthSerializer(health.summarize_registry(left_out)).data
        )

    def known(self, key: str) -> CapabilityRegistration:
        """The registration of this id, with all that is told of it."""
        registrations = CapabilityRegistration.objects.present().with_state()
        found = registrations.filter(pk=key).first()
        if found is None:
            raise errors.RegistrationNotFound(registration_id=key[:128])
        return found


def with_state_of(made: CapabilityRegistration, entry: CatalogEntry):
    """As the database tells it; which may have lost it again meanwhile."""
    made.state = events.current_state(made)
    made.agent_probed_at = entry.last_probed_at
    return made


def nobody_offers(capability: str) -> CapabilityNotFound:
    return CapabilityNotFound(
        capability=capability[:128],
        available_capabilities=decisions.suggest_capabilities(capability),
    )
