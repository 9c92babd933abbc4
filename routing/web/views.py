"""Web pages of the registry."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.web import require_permission, wants_partial

from .. import decisions, service
from ..conf import conf
from ..decisions import Decision
from ..health import get_capability_health
from ..models import CapabilityRegistration, DesiredState, RegistrationMetricsMixin
from ..strategies import STRATEGIES, RankedCandidate
from .forms import RegistrationForm, RoutingPreviewForm

PAGE_SIZE = 25
require_registry_view_permission = require_permission(
    "routing.view_capabilityregistration"
)
require_registry_change_permission = require_permission(
    "routing.change_capabilityregistration"
)

# A provider, and pairs of a strategy name and its score in that strategy.
ScoredProvider = tuple[RegistrationMetricsMixin, list[tuple[str, RankedCandidate]]]


@dataclass(frozen=True, slots=True)
class RegisteredCapability:
    """A capability with its providers, in the order of the default strategy."""

    name: str
    providers: Sequence[ScoredProvider]

    @classmethod
    def from_registrations(
        cls, name: str, registrations: Iterable[CapabilityRegistration]
    ) -> "RegisteredCapability":
        candidates = [
            decisions.build_candidate(registration) for registration in registrations
        ]
        rankings = {
            strategy: rank(candidates, 0) for strategy, rank in STRATEGIES.items()
        }
        scores: dict[str, list[tuple[str, RankedCandidate]]] = {}
        for strategy, ranking in rankings.items():
            for ranked in ranking:
                scores.setdefault(ranked.candidate.id, []).append((strategy, ranked))
        providers = [
            (ranked.candidate.registration, scores[ranked.candidate.id])
            for ranked in rankings[decisions.DEFAULT_STRATEGY]
        ]
        return cls(name, providers)

    @property
    def healthy_providers(self) -> int:
        return sum(provider.is_healthy for provider, _ in self.providers)

    @property
    def health(self) -> str:
        return get_capability_health(self.healthy_providers, len(self.providers))


@require_safe
@require_registry_view_permission
@vary_on_headers("HX-Request")
def index(request: HttpRequest) -> HttpResponse:
    """List the registered capabilities; htmx receives only the results."""
    query = request.GET.get("q", "").replace("\0", "").strip()
    registrations = CapabilityRegistration.objects.not_drained()
    registrations = registrations.filter(capability__icontains=query)
    names = registrations.order_by("capability").values_list("capability", flat=True)
    page = Paginator(names.distinct(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "tab": "registry",
        "query": query,
        "page": page,
        "capabilities": load_capabilities(list(page)),
    }
    is_partial = wants_partial(request)
    template = (
        "routing/_capability_results.html"
        if is_partial
        else "routing/capability_list.html"
    )
    return render(request, template, context)


def load_capabilities(names: list[str]) -> list[RegisteredCapability]:
    """Return the capabilities with these names in alphabetical order."""
    registrations = (
        CapabilityRegistration.objects.not_drained().with_state().with_metrics()
    )
    registrations = registrations.filter(capability__in=names).order_by("capability")
    groups = groupby(registrations, lambda registration: registration.capability)
    return [
        RegisteredCapability.from_registrations(name, group) for name, group in groups
    ]


@require_safe
@require_registry_view_permission
@vary_on_headers("HX-Request")
def capability(request: HttpRequest, name: str) -> HttpResponse:
    """Preview a routing decision: the order, the scores and how they are computed."""
    name = name.replace("\0", "")
    preview_form = RoutingPreviewForm(
        request.GET or {"strategy": decisions.DEFAULT_STRATEGY}
    )
    is_partial = wants_partial(request)
    routing_request = preview_form.build_routing_request(name)
    try:
        decision = decisions.make_routing_decision(routing_request)
    except decisions.NoProvidersError as error:
        # An open page reloads the order when the last provider is removed.
        if not is_partial:
            raise Http404(f"No agent is registered for {name}.") from error
        decision = Decision(
            capability=name,
            strategy=routing_request.strategy,
            ranked_providers=[],
            total_providers=0,
            healthy_providers=0,
        )
    context = {
        "tab": "registry",
        "name": name,
        "preview_form": preview_form,
        "decision": decision,
        "forms": build_forms(request.user, name),
    }
    template = (
        "routing/_provider_order.html"
        if is_partial
        else "routing/capability_detail.html"
    )
    return render(request, template, context)


def build_forms(user: Any, capability_name: str) -> list[RegistrationForm]:
    """Return a form for each registration, or none for a user who may not change it."""
    if not user.has_perm("routing.change_capabilityregistration"):
        return []
    registrations = CapabilityRegistration.objects.not_drained()
    registrations = registrations.filter(capability=capability_name).defer("window")
    return [
        RegistrationForm(instance=registration, prefix=registration.pk)
        for registration in registrations.select_related("entry")
    ]


@require_registry_change_permission
def change(request: HttpRequest, key: str) -> HttpResponse:
    """Change the priority or the status of a registration."""
    if request.method != "POST":
        # After a login, the browser is redirected here with GET.
        return redirect("routing:index")
    registrations = CapabilityRegistration.objects.not_drained().defer("window")
    registration = registrations.filter(pk=key.replace("\0", "")).first()
    if registration is None:
        return redirect_after_removal(request)
    form = RegistrationForm(request.POST, instance=registration, prefix=registration.pk)
    if form.is_valid():
        changes = {field: form.cleaned_data[field] for field in form.changed_data}
        try:
            service.update(registration, changes)
        except CapabilityRegistration.DoesNotExist:
            return redirect_after_removal(request)
        messages.success(request, describe_changes(registration, changes))
    for field, field_errors in form.errors.items():
        messages.error(request, f"{form[field].label}: {field_errors[0]}")
    url = reverse("routing:capability", args=[registration.capability])
    return redirect(f"{url}?{request.GET.urlencode()}" if request.GET else url)


def redirect_after_removal(request: HttpRequest) -> HttpResponse:
    messages.error(request, "This registration no longer exists.")
    return redirect("routing:index")


def describe_changes(
    registration: CapabilityRegistration, changes: dict[str, Any]
) -> str:
    """Return the message to show after saving."""
    if changes.get("desired_state") == DesiredState.DRAINING:
        seconds = f"{conf.DRAIN_SECONDS:g}"
        return (
            f"{registration.entry} receives no new requests for"
            f" {registration.capability}. The registration will be removed in"
            f" {seconds} s."
        )
    if changes:
        return f"The registration of {registration.entry} was updated."
    return f"The registration of {registration.entry} was not changed."
