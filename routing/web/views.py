"""The registry's pages: who takes traffic for what, and why."""

from dataclasses import dataclass
from itertools import groupby

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.web import require_permission, wants_partial

from .. import decisions, service
from ..conf import conf
from ..decisions import Decision
from ..health import overall
from ..models import CapabilityRegistration, DesiredState
from ..strategies import STRATEGIES
from .forms import OfferForm, TrialForm

PAGE_SIZE = 25
reader = require_permission("routing.view_capabilityregistration")
editor = require_permission("routing.change_capabilityregistration")


@dataclass(frozen=True, slots=True)
class Offered:
    """One capability with everybody who offers it, each with its four scores."""

    name: str
    providers: list

    @classmethod
    def of(cls, name, registrations) -> "Offered":
        candidates = list(map(decisions.build_candidate, registrations))
        scores = {candidate.id: [] for candidate in candidates}
        for strategy, ranking in STRATEGIES.items():
            for place in ranking(candidates, 0):
                scores[place.candidate.id].append((strategy, place))
        order = STRATEGIES[decisions.DEFAULT_STRATEGY](candidates, 0)
        return cls(name, [(p.candidate.item, scores[p.candidate.id]) for p in order])

    @property
    def healthy(self) -> int:
        return sum(one.is_healthy for one, _ in self.providers)

    @property
    def health(self) -> str:
        return overall(self.healthy, len(self.providers))


@require_safe
@reader
@vary_on_headers("HX-Request")
def index(request):
    """Capabilities open for routing; htmx asks for the results alone."""
    query = request.GET.get("q", "").replace("\0", "").strip()
    offers = CapabilityRegistration.objects.present()
    names = offers.filter(capability__icontains=query).order_by("capability")
    names = names.values_list("capability", flat=True).distinct()
    page = Paginator(names, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "tab": "registry",
        "query": query,
        "page": page,
        "offered": offered(list(page.object_list)),
    }
    part = wants_partial(request)
    return render(request, f"routing/{'_results' if part else 'index'}.html", context)


def offered(names: list[str]) -> list[Offered]:
    found = CapabilityRegistration.objects.present().with_state().with_metrics()
    found = found.filter(capability__in=names).order_by("capability")
    groups = groupby(found, lambda one: one.capability)
    return [Offered.of(name, list(group)) for name, group in groups]


@require_safe
@reader
@vary_on_headers("HX-Request")
def capability(request, name):
    """Try it: the order a strategy gives now, and the numbers that led to it."""
    name = name.replace("\0", "")
    trial = TrialForm(request.GET or {"strategy": decisions.DEFAULT_STRATEGY})
    part = wants_partial(request)
    question = trial.question(name)
    try:
        decision = decisions.decide(question)
    except decisions.NoProvidersError as error:
        # A page that is open sees the last one leave.
        if not part:
            raise Http404(f"No agent offers {name}") from error
        decision = Decision(name, question.strategy, [], 0, 0)
    context = {
        "tab": "registry",
        "name": name,
        "trial": trial,
        "decision": decision,
        "forms": forms_for(request.user, name),
    }
    return render(
        request, f"routing/{'_order' if part else 'capability'}.html", context
    )


def forms_for(user, name: str) -> list[OfferForm]:
    """One for each offer, if this user may change any."""
    if not user.has_perm("routing.change_capabilityregistration"):
        return []
    offers = CapabilityRegistration.objects.present().filter(capability=name)
    offers = offers.defer("window").select_related("entry")
    return [OfferForm(instance=one, prefix=one.pk) for one in offers]


@editor
def change(request, key):
    """Give an offer another priority, or let it drain."""
    if request.method != "POST":
        # As after a login that stood in between.
        return redirect("routing:index")
    offers = CapabilityRegistration.objects.present().defer("window")
    offer = offers.filter(pk=key.replace("\0", "")).first()
    if offer is None:
        return taken_back(request)
    form = OfferForm(request.POST, instance=offer, prefix=offer.pk)
    if form.is_valid():
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        try:
            service.update(offer, changes)
        except CapabilityRegistration.DoesNotExist:
            return taken_back(request)
        messages.success(request, f"{offer.entry} {told_of(changes)}.")
    for name, errors in form.errors.items():
        messages.error(request, f"{form[name].label}: {errors[0]}")
    place = reverse("routing:capability", args=[offer.capability])
    return redirect(f"{place}?{request.GET.urlencode()}" if request.GET else place)


def taken_back(request):
    messages.error(request, "This offer was taken back meanwhile.")
    return redirect("routing:index")


def told_of(changes: dict) -> str:
    if changes.get("intent") == DesiredState.DRAINING:
        seconds = f"{conf.DRAIN_SECONDS:g}"
        return f"takes no more requests, and is removed in {seconds} s"
    return "was changed" if changes else "is as it was"
