"""The demo catalog: fictional agents with versions and a health history."""

import json
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files
from typing import Any

from django.db import transaction
from django.utils import timezone

from capabilities.parsers import ProtocolNotDetected

from ..models import AgentType, CatalogEntry, Provider, Source, Status
from ..registration import register
from ..search import build_state_changed, save_entry
from .history import create_history

PACKAGE = files(__name__)


def read_agents() -> list[dict[str, Any]]:
    """Return each agent with the names of its definitions, oldest first, and health."""
    agents: list[dict[str, Any]] = json.loads(
        PACKAGE.joinpath("agents.json").read_bytes()
    )
    return agents


def load() -> Iterator[CatalogEntry]:
    """Register the demo agents and yield their entries; existing ones are reset.

    Agents of a protocol that is not installed are skipped.
    """
    for agent in read_agents():
        try:
            with transaction.atomic():
                entry = load_agent(agent)
        except ProtocolNotDetected:
            continue
        yield entry


def load_agent(agent: dict[str, Any]) -> CatalogEntry:
    """Register the versions of an agent and set its health."""
    *older, newest = (
        PACKAGE.joinpath("definitions", name).read_bytes()
        for name in agent["definitions"]
    )
    if not AgentType.objects.filter(raw_definition=newest).exists():
        for raw in older:
            register(raw, source=Source.DEMO)
    entry = register(newest, source=Source.DEMO).entry
    now = timezone.now()
    minutes = agent["minutes_since_success"]
    previous_status, entry.status = entry.status, agent["status"]
    entry.categories = agent["categories"]
    entry.latency_ms = agent["latency_ms"]
    entry.consecutive_failures = agent["consecutive_failures"]
    entry.last_error = agent["last_error"]
    entry.last_success_at = (
        None if minutes is None else now - timedelta(minutes=minutes)
    )
    if entry.status != Status.UNKNOWN and not entry.declared:
        entry.last_probed_at = now
    events = []
    if entry.status != previous_status:
        events.append(build_state_changed(entry, previous_status))
    save_entry(entry, *events)
    create_history(entry)
    return entry


def remove() -> int:
    """Delete the demo agents, and their providers unless they have other agents.

    Return how many agents were deleted.
    """
    demo = CatalogEntry.objects.filter(source=Source.DEMO)
    providers = set(demo.values_list("agent_type__provider", flat=True)) - {None}
    count = demo.count()
    with transaction.atomic():
        demo.delete()
        Provider.objects.filter(pk__in=providers, agent_types=None).delete()
    return count
