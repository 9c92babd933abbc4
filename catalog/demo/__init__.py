"""An invented catalog: agents, their versions, and how they have been lately."""

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

HERE = files(__name__)


def read_story() -> list[dict[str, Any]]:
    """The story: for each agent its definitions, oldest first, and its health."""
    story: list[dict[str, Any]] = json.loads(HERE.joinpath("story.json").read_bytes())
    return story


def load() -> Iterator[CatalogEntry]:
    """Catalogue the demo agents, one by one; loading again restores them.

    Those of a protocol that this project left out are passed over.
    """
    for agent in read_story():
        try:
            with transaction.atomic():
                entry = load_agent(agent)
        except ProtocolNotDetected:
            continue
        yield entry


def load_agent(agent: dict[str, Any]) -> CatalogEntry:
    *older, newest = (
        HERE.joinpath("definitions", name).read_bytes() for name in agent["definitions"]
    )
    if not AgentType.objects.filter(raw_definition=newest).exists():
        for raw in older:
            register(raw, source=Source.DEMO)
    entry = register(newest, source=Source.DEMO).entry
    now = timezone.now()
    since = agent["minutes_since_success"]
    before, entry.status = entry.status, agent["status"]
    entry.categories = agent["categories"]
    entry.latency_ms = agent["latency_ms"]
    entry.consecutive_failures = agent["consecutive_failures"]
    entry.last_error = agent["last_error"]
    entry.last_success_at = None if since is None else now - timedelta(minutes=since)
    if entry.status != Status.UNKNOWN and not entry.declared:
        entry.last_probed_at = now
    changes = [build_state_changed(entry, before)] if entry.status != before else []
    save_entry(entry, *changes)
    create_history(entry)
    return entry


def remove() -> int:
    """Take the demo agents away, and the providers nobody else needs."""
    demo = CatalogEntry.objects.filter(source=Source.DEMO)
    providers = set(demo.values_list("agent_type__provider", flat=True)) - {None}
    count = demo.count()
    with transaction.atomic():
        demo.delete()
        Provider.objects.filter(pk__in=providers, agent_types=None).delete()
    return count
