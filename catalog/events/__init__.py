"""Entry events: published after commit, delivered to subscribers and sockets."""

from .bus import (
    ChangeSummary,
    EntryIngested,
    EntryRemoved,
    StateChanged,
    publish,
    subscribe,
)
from .consumers import (
    EventConsumerMixin,
    LiveConsumer,
    LiveStream,
    parse_query,
    register_event_loop,
    send_entry_event,
    send_to_group,
)

__all__ = [
    "ChangeSummary",
    "EntryIngested",
    "EntryRemoved",
    "EventConsumerMixin",
    "LiveConsumer",
    "LiveStream",
    "StateChanged",
    "parse_query",
    "publish",
    "register_event_loop",
    "send_entry_event",
    "send_to_group",
    "subscribe",
]
