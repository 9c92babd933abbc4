"""Consumers that carry events to open pages and programs, through a Channels group."""

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
from .bus import EntryIngested, EntryRemoved, StateChanged

GROUP = "catalog"
VIEW = "catalog.view_catalogentry"
# Closed with this, one should come back, and look at all again.
RECONNECT_CODE = 4000
REASON = 100


class Server:
    """The event loop of the process's sockets, while it serves any."""

    loop: asyncio.AbstractEventLoop | None = None


def attach_loop() -> None:
    """Remember that sockets live on this loop: others' threads send through it."""
    Server.loop = asyncio.get_running_loop()


def send_to_group(group: str, content: dict[str, Any]) -> None:
    """Send to every socket of the group, in all processes; never waits for them."""
    layer = get_channel_layer()
    if layer is None:
        # A project without CHANNEL_LAYERS has no open sockets either.
        return
    message = {"type": "live.message", "content": content}
    if Server.loop and Server.loop.is_running():
        sending = layer.group_send(group, message)
        asyncio.run_coroutine_threadsafe(sending, Server.loop)
    elif not isinstance(layer, InMemoryChannelLayer):
        async_to_sync(layer.group_send)(group, message)


def send_entry_event(event: EntryIngested | StateChanged | EntryRemoved) -> None:
    """Send an entry event to the open pages and sockets of the catalog."""
    entry = str(event.entry_id)
    match event:
        case StateChanged():
            told = {"type": "state_changed", "entry_id": entry}
            send_to_group(GROUP, told | state_of(event))
        case EntryIngested(result="created"):
            send_to_group(GROUP, {"type": "entry_added", "entry_id": entry})
        case EntryIngested(result="updated"):
            send_to_group(GROUP, {"type": "definition_changed", "entry_id": entry})
        case EntryRemoved():
            send_to_group(GROUP, {"type": "entry_removed", "entry_id": entry})


def state_of(change: StateChanged) -> dict[str, Any]:
    """The new state, and the badge that shows it, drawn as every page draws it."""
    badge = render_to_string("catalog/_badge.html", {"status": change.after})
    return {
        "before": change.before,
        "status": change.after,
        "latency_ms": change.latency_ms,
        "error": change.error,
        "badge": badge.strip(),
    }


def query_parameters(query: bytes) -> dict[str, list[str]]:
    """A query string's parameters; an empty value means absent."""
    return parse_qs(query.decode("latin-1"))


class EventConsumerMixin:
    """What a socket and a stream have in common: who may hear what, and how long."""

    permission = VIEW
    group = GROUP
    # The parameters it knows.
    allowed_parameters: tuple[str, ...] = ()

    @classmethod
    def query_error(cls, query: bytes) -> str:
        """What is wrong with a question, in words; nothing when it will do."""
        unknown = sorted(query_parameters(query).keys() - set(cls.allowed_parameters))
        return f"Unknown parameter: {unknown[0]}" if unknown else ""

    async def listen(self) -> None:
        await self.channel_layer.group_add(self.group, self.channel_name)
        loop = asyncio.get_running_loop()
        self.end = loop.call_later(
            conf.CONNECTION_LIFETIME, lambda: loop.create_task(self.disconnect_client())
        )

    async def stop_listening(self) -> None:
        if hasattr(self, "end"):
            self.end.cancel()
            await self.channel_layer.group_discard(self.group, self.channel_name)

    def wants_event(self, content: dict[str, Any]) -> bool:
        return True

    async def live_message(self, event: dict[str, Any]) -> None:
        if not self.wants_event(event["content"]):
            return
        try:
            async with asyncio.timeout(conf.CLIENT_PATIENCE):
                await self.send_event(event["content"])
        except TimeoutError:
            await self.stop_listening()
            raise StopConsumer from None

    async def live_interrupted(self, event: dict[str, Any]) -> None:
        """Something was said that did not come through."""
        await self.disconnect_client()


class LiveConsumer(EventConsumerMixin, AsyncJsonWebsocketConsumer):
    """A socket that tells and does not listen, for those who may read."""

    async def connect(self) -> None:
        refusal = await self.refusal()
        if not refusal:
            # Before it is open: who hears that it is misses nothing from then on.
            await self.listen()
        await self.accept()
        if refusal:
            # A code only reaches those whose socket was opened.
            await self.close(*refusal)

    async def refusal(self) -> tuple[int, str] | None:
        """The code to close with, and why; None for one who may listen."""
        user = self.scope["user"]
        if not await database_sync_to_async(user.has_perm)(self.permission):
            known = user.is_authenticated
            return (4403, "Not permitted") if known else (4401, "Not authenticated")
        query_error = self.query_error(self.scope["query_string"])
        # As much as the frame that closes a socket has room for.
        return (4400, query_error[:REASON]) if query_error else None

    async def disconnect(self, code: int) -> None:
        await self.stop_listening()

    async def receive(self, text_data=None, bytes_data=None, **kwargs) -> None:
        """There is nothing to say here."""

    async def send_event(self, content: dict[str, Any]) -> None:
        await self.send_json(content)

    async def disconnect_client(self) -> None:
        await self.close(RECONNECT_CODE)


class LiveStream(EventConsumerMixin, AsyncHttpConsumer):
    """The same as server-sent events, for those to whom a socket is too much."""

    beating: asyncio.Task[None] | None = None

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
        self.beating = asyncio.get_running_loop().create_task(self.beat())

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(conf.HEARTBEAT)
            await self.send_body(b": still here\n\n", more_body=True)

    async def stop_listening(self) -> None:
        if self.beating:
            self.beating.cancel()
        await super().stop_listening()

    async def disconnect(self) -> None:
        await self.stop_listening()

    async def send_event(self, content: dict[str, Any]) -> None:
        lines = f"event: {content['type']}\ndata: {json.dumps(content)}\n\n"
        await self.send_body(lines.encode(), more_body=True)

    async def disconnect_client(self) -> None:
        """To end is to say: come again."""
        await self.disconnect()
        await self.send_body(b"")
