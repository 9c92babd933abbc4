"""Consumers that send events to pages and programs, through Channels groups."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.template.loader import render_to_string

from ..conf import conf
from .bus import ChangeSummary, EntryIngested, EntryRemoved, StateChanged

CATALOG_GROUP = "catalog"
VIEW_PERMISSION = "catalog.view_catalogentry"
# Clients should reconnect after this close code, and load the current state.
RECONNECT_CODE = 4000
# A close frame has room for 123 bytes.
CLOSE_REASON_LIMIT = 100


class ServerLoop:
    """The event loop that serves the sockets of this process, if it serves any."""

    loop: asyncio.AbstractEventLoop | None = None


def register_event_loop() -> None:
    """Register the running event loop, through which threads send to the sockets."""
    ServerLoop.loop = asyncio.get_running_loop()


def send_to_group(group: str, content: dict[str, Any]) -> None:
    """Send to every socket of the group, in all processes, without waiting for them."""
    layer = get_channel_layer()
    if layer is None:
        # A project without CHANNEL_LAYERS has no open sockets either.
        return
    message = {"type": "live.message", "content": content}
    if ServerLoop.loop and ServerLoop.loop.is_running():
        coroutine = layer.group_send(group, message)
        asyncio.run_coroutine_threadsafe(coroutine, ServerLoop.loop)
    elif not isinstance(layer, InMemoryChannelLayer):
        async_to_sync(layer.group_send)(group, message)


def send_entry_event(event: EntryIngested | StateChanged | EntryRemoved) -> None:
    """Send an entry event to the open pages and sockets of the catalog."""
    entry_id = str(event.entry_id)
    match event:
        case StateChanged():
            send_to_group(CATALOG_GROUP, build_state_message(event))
        case EntryIngested(outcome="created"):
            send_to_group(CATALOG_GROUP, {"type": "entry_added", "entry_id": entry_id})
        case EntryIngested(outcome="updated", changes=changes):
            members = build_change_members(changes or ChangeSummary())
            message = {"type": "definition_changed", "entry_id": entry_id}
            if event.replaced_name:
                message["replaced_name"] = event.replaced_name
            send_to_group(CATALOG_GROUP, message | members)
        case EntryRemoved():
            message = {"type": "entry_removed", "entry_id": entry_id}
            send_to_group(CATALOG_GROUP, message)


def build_change_members(changes: ChangeSummary) -> dict[str, Any]:
    """Return what changed as members of a message."""
    return {
        "added": changes.added,
        "removed": changes.removed,
        "changed": changes.changed,
        "fields": list(changes.fields),
        "breaking": changes.breaking,
        "breaking_count": changes.breaking_count,
        "breaking_reasons": list(changes.breaking_reasons),
        "details": list(changes.details),
        "omitted": changes.omitted,
    }


def build_state_message(change: StateChanged) -> dict[str, Any]:
    """Return the new state with the HTML of its badge, the same as on every page."""
    badge = render_to_string("catalog/_status_badge.html", {"status": change.after})
    return {
        "type": "state_changed",
        "entry_id": str(change.entry_id),
        "before": change.before,
        "status": change.after,
        "latency_ms": change.latency_ms,
        "error": change.error,
        "badge": badge.strip(),
    }


def parse_query(query: bytes) -> dict[str, list[str]]:
    """Return the parameters of a query string, without those that are empty."""
    return parse_qs(query.decode("latin-1"))


class EventConsumerMixin:
    """Common base of sockets and streams: permission, group and lifetime."""

    permission = VIEW_PERMISSION
    group = CATALOG_GROUP
    allowed_parameters: tuple[str, ...] = ()
    # Set by Channels.
    channel_layer: Any
    channel_name: str
    scope: dict[str, Any]

    async def send_event(self, content: dict[str, Any]) -> None:
        raise NotImplementedError

    async def disconnect_client(self) -> None:
        raise NotImplementedError

    @classmethod
    def find_query_error(cls, query: bytes) -> str:
        """Return what is wrong with the query string, or '' if it is valid."""
        unknown = sorted(parse_query(query).keys() - set(cls.allowed_parameters))
        return f"Unknown parameter: {unknown[0]}" if unknown else ""

    async def listen(self) -> None:
        await self.channel_layer.group_add(self.group, self.channel_name)
        loop = asyncio.get_running_loop()
        self.close_timer = loop.call_later(
            conf.CONNECTION_LIFETIME, lambda: loop.create_task(self.disconnect_client())
        )

    async def stop_listening(self) -> None:
        if hasattr(self, "close_timer"):
            self.close_timer.cancel()
            await self.channel_layer.group_discard(self.group, self.channel_name)

    def wants_event(self, content: dict[str, Any]) -> bool:
        return True

    async def live_message(self, event: dict[str, Any]) -> None:
        """Handle a message of the group."""
        if not self.wants_event(event["content"]):
            return
        try:
            async with asyncio.timeout(conf.CLIENT_TIMEOUT):
                await self.send_event(event["content"])
        except TimeoutError:
            await self.stop_listening()
            raise StopConsumer from None

    async def live_interrupted(self, event: dict[str, Any]) -> None:
        """Handle the loss of messages."""
        await self.disconnect_client()


class LiveConsumer(EventConsumerMixin, AsyncJsonWebsocketConsumer):
    """A WebSocket that sends events to users with the permission."""

    async def connect(self) -> None:
        rejection = await self.get_rejection()
        if not rejection:
            # Before accepting, so that no event is missed once the socket is open.
            await self.listen()
        await self.accept()
        if rejection:
            # Browsers see the close code only if the socket was accepted.
            code, reason = rejection
            await self.close(code, reason)

    async def get_rejection(self) -> tuple[int, str] | None:
        """Return the close code and its reason, or None if the user has access."""
        user = self.scope["user"]
        if not await database_sync_to_async(user.has_perm)(self.permission):
            if user.is_authenticated:
                return 4403, "Not permitted"
            return 4401, "Not authenticated"
        error = self.find_query_error(self.scope["query_string"])
        return (4400, error[:CLOSE_REASON_LIMIT]) if error else None

    async def disconnect(self, code: int) -> None:
        await self.stop_listening()

    async def receive(
        self,
        text_data: str | None = None,
        bytes_data: bytes | None = None,
        **kwargs: Any,
    ) -> None:
        """Ignore what the client sends."""

    async def send_event(self, content: dict[str, Any]) -> None:
        await self.send_json(content)

    async def disconnect_client(self) -> None:
        await self.close(RECONNECT_CODE)


class LiveStream(EventConsumerMixin, AsyncHttpConsumer):
    """The same events as server-sent events."""

    heartbeat_task: asyncio.Task[None] | None = None

    async def http_request(self, message: dict[str, Any]) -> None:
        if message.get("more_body"):
            return
        await self.listen()
        headers = [
            (b"Content-Type", b"text/event-stream; charset=utf-8"),
            (b"Cache-Control", b"no-store"),
            (b"X-Content-Type-Options", b"nosniff"),
            (b"X-Request-ID", self.scope["request_id"].encode()),
        ]
        await self.send_headers(headers=headers)
        await self.send_body(b": listening\n\n", more_body=True)
        loop = asyncio.get_running_loop()
        self.heartbeat_task = loop.create_task(self.send_heartbeats())

    async def send_heartbeats(self) -> None:
        """Send comments regularly, so that proxies keep the connection open."""
        while True:
            await asyncio.sleep(conf.HEARTBEAT)
            await self.send_body(b": heartbeat\n\n", more_body=True)

    async def stop_listening(self) -> None:
        if self.heartbeat_task:
            self.heartbeat_task.cancel()
        await super().stop_listening()

    async def disconnect(self) -> None:
        await self.stop_listening()

    async def send_event(self, content: dict[str, Any]) -> None:
        lines = f"event: {content['type']}\ndata: {json.dumps(content)}\n\n"
        await self.send_body(lines.encode(), more_body=True)

    async def disconnect_client(self) -> None:
        """End the response, after which clients reconnect."""
        await self.disconnect()
        await self.send_body(b"")
