"""Routing decisions: the providers of a capability in the order to try them."""

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
# Comparing names is slow, so only some names are compared: those that contain the
# first letters of one of the first words.
COMPARISON_LIMIT, WORD_LIMIT, PREFIX_LENGTH = 300, 5, 4


class UnknownStrategyError(ValueError):
    """There is no routing strategy of this name."""


class MetadataFilterError(ValueError):
    """The metadata filter is not a valid JSON object."""


class NoProvidersError(LookupError):
    """No agent is registered for the capability."""


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """What to decide; with `peek` the rotation does not advance."""

    capability: str
    version: str = ""
    strategy: str = DEFAULT_STRATEGY
    include_unhealthy: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    peek: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The providers to try, in order, and counts of all that match the request."""

    capability: str
    strategy: str
    order: list[RankedCandidate]
    total_providers: int
    healthy_providers: int


def decide(request: RoutingRequest) -> Decision:
    """Return the order given by the strategy.

    Raises UnknownStrategyError, or NoProvidersError if nothing is registered for the
    capability.
    """
    rank = STRATEGIES.get(request.strategy)
    if rank is None:
        raise UnknownStrategyError(request.strategy)
    providers = get_providers(request.capability)
    if not providers:
        raise NoProvidersError(request.capability)
    matching = [item for item in providers if matches_request(item, request)]
    included = [
        item for item in matching if request.include_unhealthy or item.takes_traffic
    ]
    # Do not count turns that no provider can take.
    has_traffic = any(item.takes_traffic for item in included)
    turn = get_turn(request) if has_traffic else 0
    return Decision(
        capability=request.capability,
        strategy=request.strategy,
        order=rank([build_candidate(item) for item in included], turn),
        total_providers=len(matching),
        healthy_providers=sum(item.is_healthy for item in matching),
    )


def get_turn(request: RoutingRequest) -> int:
    """Return the turn of the rotation; only `load_balance` has one."""
    if request.strategy != "load_balance":
        return 0
    get_number = rotation.peek_turn if request.peek else rotation.next_turn
    return get_number(request.capability, request.version)


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


def matches_request(
    registration: RegistrationMetricsMixin, request: RoutingRequest
) -> bool:
    """Return whether version and metadata match the request."""
    if request.version and registration.version != request.version:
        return False
    metadata = registration.metadata
    return all(
        key in metadata and matches_value(metadata[key], wanted)
        for key, wanted in request.metadata.items()
    )


def matches_value(stored: Any, wanted: Any) -> bool:
    """Return whether values are equal, or a stored list contains all wanted ones."""
    if not isinstance(stored, list):
        return is_same_json(stored, wanted)
    wanted_items = wanted if isinstance(wanted, list) else [wanted]
    return all(
        any(is_same_json(item, wanted_item) for item in stored)
        for wanted_item in wanted_items
    )


def is_same_json(first: Any, second: Any) -> bool:
    """Compare JSON values; unlike in Python, 1 and true are different."""
    if isinstance(first, dict) and isinstance(second, dict):
        same_keys = first.keys() == second.keys()
        return same_keys and all(is_same_json(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same_json, first, second))
    return isinstance(first, bool) == isinstance(second, bool) and first == second


def parse_metadata_filter(text: str) -> dict[str, Any]:
    """Return the filter as a dict, {} if empty; raise MetadataFilterError."""
    if not text:
        return {}
    problems = Problems()
    try:
        metadata = read_json(text.encode(errors="replace"), problems)
    except UnreadableDocument as error:
        raise MetadataFilterError(f"metadata_filter {error}") from error
    for problem in (*problems.errors, *problems.warnings):
        # Warnings add what is done about them, such as "; the last value is used".
        message = problem.message.partition(";")[0]
        raise MetadataFilterError(f"metadata_filter at {problem.path}: {message}")
    return metadata


def suggest_capabilities(capability: str) -> list[str]:
    """Return names of registered capabilities, the most similar ones first."""
    wanted = capability[:REGISTRATION_NAME_LIMIT]
    words = [word for word in wanted.lower().split("-") if word]
    similar = Q(capability__startswith=wanted[:1].lower())
    for word in words[:WORD_LIMIT]:
        similar |= Q(capability__contains=word[:PREFIX_LENGTH])
    registrations = CapabilityRegistration.objects.present().order_by("capability")
    names = registrations.values_list("capability", flat=True).distinct()
    similar_names = list(names.filter(similar)[:COMPARISON_LIMIT])
    closest = get_close_matches(wanted, similar_names, SUGGESTION_LIMIT, cutoff=0.4)
    ordered = [*closest, *similar_names, *names[:SUGGESTION_LIMIT]]
    return list(dict.fromkeys(ordered))[:SUGGESTION_LIMIT]
