"""Channel layers that disconnect clients instead of losing events.

A disconnected client reconnects and loads the current state. A client that missed an
event would show an outdated state without knowing it.
"""

import asyncio
from typing import Any

from channels.exceptions import ChannelFull
from channels.layers import InMemoryChannelLayer
from channels_redis.pubsub import (
    RedisPubSubChannelLayer,
    RedisPubSubLoopLayer,
    RedisSingleShardConnection,
)
from channels_redis.utils import decode_hosts

# Makes a consumer disconnect its client, because events were lost.
INTERRUPTED_MESSAGE = {"type": "live.interrupted"}


class MemoryLayer(InMemoryChannelLayer):
    """A layer within this process; it disconnects the client of a full queue."""

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        try:
            await super().send(channel, message)
        except ChannelFull:
            self.channels.pop(channel)
            await super().send(channel, INTERRUPTED_MESSAGE)


class RedisLayer(RedisPubSubChannelLayer):
    """A layer between processes; it disconnects all clients when it loses Redis."""

    def _get_layer(self) -> RedisPubSubLoopLayer:
        loop = asyncio.get_running_loop()
        if loop not in self._layers:
            layer = super()._get_layer()
            hosts = decode_hosts(self._kwargs["hosts"])
            layer._shards = [RedisConnection(host, layer) for host in hosts]
        return self._layers[loop]


class RedisConnection(RedisSingleShardConnection):
    """A connection that reports when it is lost, because Redis keeps no messages."""

    def _ensure_redis(self) -> None:
        if self._redis is not None:
            return
        super()._ensure_redis()
        original_get_message = self._pubsub.get_message

        async def get_message(*args: Any, **kwargs: Any) -> Any:
            try:
                return await original_get_message(*args, **kwargs)
            except Exception:
                self.interrupt_consumers()
                raise

        self._pubsub.get_message = get_message

    def interrupt_consumers(self) -> None:
        layer = self.channel_layer
        message = layer.channel_layer.serialize(INTERRUPTED_MESSAGE)
        for queue in layer.channels.values():
            queue.put_nowait(message)
