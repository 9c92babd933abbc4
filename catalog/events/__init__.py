"""Entry events: published after commit, delivered to subscribers and sockets."""

from .bus import EntryIngested, EntryRemoved, StateChanged, publish, subscribe
from .consumers import (
    EventConsumerMixin,
    LiveConsumer,
    LiveStream,
    attach_loop,
    query_parameters,
    send_entry_event,
    send_to_group,
)

__all__ = [
    "EntryIngested",
    "EntryRemoved",
    "EventConsumerMixin",
    "LiveConsumer",
    "LiveStream",
    "StateChanged",
    "attach_loop",
    "publish",
    "query_parameters",
    "send_entry_event",
    "send_to_group",
    "subscribe",
]
