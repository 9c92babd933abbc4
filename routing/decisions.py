"""Who takes the next request for a capability, and how its providers are."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from django.db.models import Q

from capabilities.documents import read_json
from capabilities.problems import Problems, UnreadableDocument
from capabilities.validators import REGISTRATION_NAME_LIMIT

from . import rotation
from .models import CapabilityRegistration, RegistrationMetricsMixin
from .provider_query import get_providers
from .strategies import STRATEGIES, RankedCandidate, RoutingCandidate

DEFAULT_STRATEGY = "priority"
SUGGESTION_LIMIT = 20
# Comparing takes its time: only with so many, that share the start of such a word.
COMPARED, WORDS, STEM = 300, 5, 4


class UnknownStrategyError(ValueError):
    """Not one of the four."""


class MetadataFilterError(ValueError):
    """Not a JSON object."""


class NoProvidersError(LookupError):
    """No registration for this capability at all."""


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """What a caller wants to know; `peek` leaves the rotation where it is."""

    capability: str
    version: str = ""
    strategy: str = DEFAULT_STRATEGY
    include_unhealthy: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    peek: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Providers in the order to try them, and of how many these are."""

    capability: str
    strategy: str
    order: list[RankedCandidate]
    total: int
    healthy: int


def decide(question: RoutingRequest) -> Decision:
    """The order the strategy gives; raises when nobody offers the capability."""
    if question.strategy not in STRATEGIES:
        raise UnknownStrategyError(question.strategy)
    everyone = get_providers(question.capability)
    if not everyone:
        raise NoProvidersError(question.capability)
    asked = [one for one in everyone if fits(one, question)]
    shown = [one for one in asked if question.include_unhealthy or one.takes_traffic]
    taken = turn(question) if any(one.takes_traffic for one in shown) else 0
    order = STRATEGIES[question.strategy](list(map(build_candidate, shown)), taken)
    healthy = sum(one.is_healthy for one in asked)
    return Decision(question.capability, question.strategy, order, len(asked), healthy)


def turn(question: RoutingRequest) -> int:
    """Only a balanced choice moves the rotation on."""
    if question.strategy != "load_balance":
        return 0
    take = rotation.peek_turn if question.peek else rotation.next_turn
    return take(question.capability, question.version)


def build_candidate(registration: RegistrationMetricsMixin) -> RoutingCandidate:
    return RoutingCandidate(
        id=registration.pk,
        agent_name=registration.agent_name,
        priority=registration.priority,
        health=registration.health,
        load=registration.load,
        response_time_ms=registration.response_time_ms,
        takes_traffic=registration.takes_traffic,
        item=registration,
    )


def fits(registration: RegistrationMetricsMixin, question: RoutingRequest) -> bool:
    if question.version and registration.version != question.version:
        return False
    return all(
        key in registration.metadata and matches(registration.metadata[key], wanted)
        for key, wanted in question.metadata.items()
    )


def matches(stored: Any, wanted: Any) -> bool:
    """Equal; or, in a stored list, contained: one value, or each of a list."""
    if not isinstance(stored, list):
        return same(stored, wanted)
    many = wanted if isinstance(wanted, list) else [wanted]
    return all(any(same(item, one) for item in stored) for one in many)


def same(stored: Any, wanted: Any) -> bool:
    """As JSON sees it, where 1 is not true."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        keys = stored.keys() == wanted.keys()
        return keys and all(same(stored[key], wanted[key]) for key in stored)
    if isinstance(stored, list) and isinstance(wanted, list):
        return len(stored) == len(wanted) and all(map(same, stored, wanted))
    return isinstance(stored, bool) == isinstance(wanted, bool) and stored == wanted


def parse_metadata_filter(text: str) -> dict[str, Any]:
    problems = Problems()
    try:
        wanted = read_json(text.encode(errors="replace"), problems) if text else {}
    except UnreadableDocument as error:
        raise MetadataFilterError(f"metadata_filter {error}") from error
    for first in (*problems.errors, *problems.warnings):
        message = first.message.partition(";")[0]
        raise MetadataFilterError(f"metadata_filter {first.path} {message}")
    return wanted


def suggest_capabilities(capability: str) -> list[str]:
    """Names that somebody does offer, the closest first."""
    wanted = capability[:REGISTRATION_NAME_LIMIT]
    words = [word for word in wanted.lower().split("-") if word]
    alike = Q(capability__startswith=wanted[:1].lower())
    for word in words[:WORDS]:
        alike |= Q(capability__contains=word[:STEM])
    offered = CapabilityRegistration.objects.present().order_by("capability")
    names = offered.values_list("capability", flat=True).distinct()
    some = list(names.filter(alike)[:COMPARED])
    close = get_close_matches(wanted, some, SUGGESTION_LIMIT, cutoff=0.4)
    return list(dict.fromkeys([*close, *some, *names[:SUGGESTION_LIMIT]]))[
        :SUGGESTION_LIMIT
    ]
