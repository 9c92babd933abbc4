"""Entry events, delivered to subscribers after commit.

Apps that build on the catalog call `events.subscribe` in `ready`.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """What a new definition of an agent changed."""

    # Numbers of capabilities.
    added: int = 0
    removed: int = 0
    changed: int = 0
    # Names of the changed fields of the agent, such as "version".
    fields: tuple[str, ...] = ()
    # The number of changes that break clients, and the reasons of the first of them.
    breaking_count: int = 0
    breaking_reasons: tuple[str, ...] = ()
    # The first changes of fields, as JSON objects like those of the API; those of
    # capabilities also have `kind` and `name`. `omitted` is the number of the others.
    details: tuple[dict[str, Any], ...] = ()
    omitted: int = 0

    @property
    def breaking(self) -> bool:
        return self.breaking_count > 0


@dataclass(frozen=True, slots=True)
class EntryIngested:
    """A definition was registered; `outcome` is "created", "updated" or "unchanged"."""

    entry_id: UUID
    outcome: str
    # The name of the agent that was in the entry, if another one replaced it.
    replaced_name: str = ""
    # What changed, if the entry was updated.
    changes: ChangeSummary | None = None


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The status of an entry changed, by a probe or by a person."""

    entry_id: UUID
    before: str
    after: str
    latency_ms: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class EntryRemoved:
    entry_id: UUID


Event = EntryIngested | StateChanged | EntryRemoved
Subscriber = Callable[[Any], None]

subscribers: list[Subscriber] = []


def subscribe(subscriber: Subscriber) -> None:
    """Call the function with every event, in the thread that committed."""
    if subscriber not in subscribers:
        subscribers.append(subscriber)


def publish(event: Event) -> None:
    """Deliver the event once the current transaction is committed."""
    transaction.on_commit(lambda: dispatch(event))


def dispatch(event: Event) -> None:
    for subscriber in subscribers:
        try:
            subscriber(event)
        except Exception:
            # The write is committed: a failing subscriber must not affect the others.
            name = getattr(subscriber, "__qualname__", repr(subscriber))
            event_name = type(event).__name__
            logger.exception("The subscriber %s failed on %s", name, event_name)
