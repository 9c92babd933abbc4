"""What happened to entries, told after commit to whoever signed up.

The one way up: apps that build on the catalog call `announcements.listen` in `ready`.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EntryIngested:
    """A definition came in; the result is "created", "updated" or "unchanged"."""

    entry_id: UUID
    result: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The entry's status is another than before, by a probe or by a person."""

    entry_id: UUID
    before: str
    after: str
    latency_ms: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class EntryRemoved:
    entry_id: UUID


Announcement = EntryIngested | StateChanged | EntryRemoved
Listener = Callable[[Any], None]

listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """From now on, call this with every announcement; in the thread that committed."""
    if listener not in listeners:
        listeners.append(listener)


def announce(announcement: Announcement) -> None:
    """Tell everyone once what is being written is there for all to see."""
    transaction.on_commit(lambda: tell(announcement))


def tell(announcement: Announcement) -> None:
    for listener in listeners:
        try:
            listener(announcement)
        except Exception:
            # What was written is written: one who cannot listen costs nobody else.
            logger.exception("%s was not heard", type(announcement).__name__)
