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
# Comparing names is slow, so only some names are compared: those that start with the
# first letter of the name, or contain the first letters of one of its first words.
COMPARISON_LIMIT, WORD_LIMIT, PREFIX_LENGTH = 300, 5, 4


class UnknownStrategyError(ValueError):
    """There is no routing strategy of this name."""


class MetadataFilterError(ValueError):
    """The metadata filter is not a valid JSON object."""


class NoProvidersError(LookupError):
    """No agent is registered for the capability."""


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """The parameters of a decision; with `peek`, the rotation does not advance."""

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
    ranked_providers: list[RankedCandidate]
    total_providers: int
    healthy_providers: int


def make_routing_decision(request: RoutingRequest) -> Decision:
    """Rank the providers of a capability by the strategy of the request.

    Raise UnknownStrategyError, or NoProvidersError if nothing is registered for the
    capability.
    """
    rank = STRATEGIES.get(request.strategy)
    if rank is None:
        raise UnknownStrategyError(request.strategy)
    providers = get_providers(request.capability)
    if not providers:
        raise NoProvidersError(request.capability)
    matching = [
        provider for provider in providers if matches_request(provider, request)
    ]
    included = [
        provider
        for provider in matching
        if request.include_unhealthy or provider.takes_traffic
    ]
    # Without a provider that takes traffic, the rotation does not advance.
    has_traffic = any(provider.takes_traffic for provider in included)
    turn = get_turn(request) if has_traffic else 0
    candidates = [build_candidate(provider) for provider in included]
    return Decision(
        capability=request.capability,
        strategy=request.strategy,
        ranked_providers=rank(candidates, turn),
        total_providers=len(matching),
        healthy_providers=sum(provider.is_healthy for provider in matching),
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
        load=registration.current_load_score,
        response_time_ms=registration.response_time_ms,
        takes_traffic=registration.takes_traffic,
        registration=registration,
    )


def matches_request(
    registration: RegistrationMetricsMixin, request: RoutingRequest
) -> bool:
    """Return whether version and metadata match the request."""
    if request.version and registration.version != request.version:
        return False
    metadata = registration.metadata
    return all(
        key in metadata and matches_value(metadata[key], requested)
        for key, requested in request.metadata.items()
    )


def matches_value(stored: Any, requested: Any) -> bool:
    """Return whether values are equal, or a stored list contains all requested ones."""
    if not isinstance(stored, list):
        return is_same_json(stored, requested)
    requested_values = requested if isinstance(requested, list) else [requested]
    return all(
        any(is_same_json(stored_value, requested_value) for stored_value in stored)
        for requested_value in requested_values
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
    """Return the filter, {} if empty; raise MetadataFilterError if it is invalid."""
    if not text:
        return {}
    problems = Problems(rejects_repeated_members=True)
    try:
        metadata = read_json(text.encode(errors="replace"), problems)
    except UnreadableDocument as error:
        raise MetadataFilterError(f"metadata_filter {error}") from error
    if problems.errors:
        problem = problems.errors[0]
        message = f"metadata_filter at {problem.path}: {problem.message}"
        raise MetadataFilterError(message)
    return metadata


def suggest_capabilities(capability: str) -> list[str]:
    """Return names of registered capabilities, the most similar ones first."""
    requested = capability[:REGISTRATION_NAME_LIMIT]
    words = [word for word in requested.lower().split("-") if word]
    similar = Q(capability__startswith=requested[:1].lower())
    for word in words[:WORD_LIMIT]:
        similar |= Q(capability__contains=word[:PREFIX_LENGTH])
    registrations = CapabilityRegistration.objects.not_drained().order_by("capability")
    names = registrations.values_list("capability", flat=True).distinct()
    similar_names = list(names.filter(similar)[:COMPARISON_LIMIT])
    closest = get_close_matches(requested, similar_names, SUGGESTION_LIMIT, cutoff=0.4)
    ordered = [*closest, *similar_names, *names[:SUGGESTION_LIMIT]]
    return list(dict.fromkeys(ordered))[:SUGGESTION_LIMIT]
