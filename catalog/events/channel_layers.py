"""Channel layers that would rather let a socket go than let it miss something.

Whoever is let go comes back and looks again; whoever misses an event without knowing
goes on with what is no longer true.
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

# What a consumer gets in place of what it cannot get.
INTERRUPTED = {"type": "live.interrupted"}


class MemoryLayer(InMemoryChannelLayer):
    """Within this process; a queue that is full is emptied, and its socket let go."""

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        try:
            await super().send(channel, message)
        except ChannelFull:
            self.channels.pop(channel)
            await super().send(channel, INTERRUPTED)


class RedisLayer(RedisPubSubChannelLayer):
    """Between processes; when the line to Redis breaks, all sockets are let go."""

    def _get_layer(self) -> RedisPubSubLoopLayer:
        loop = asyncio.get_running_loop()
        if loop not in self._layers:
            made = super()._get_layer()
            hosts = decode_hosts(self._kwargs["hosts"])
            made._shards = [Line(host, made) for host in hosts]
        return self._layers[loop]


class Line(RedisSingleShardConnection):
    """To one Redis; says when it broke, for nothing that was said since came over."""

    def _ensure_redis(self) -> None:
        if self._redis is not None:
            return
        super()._ensure_redis()
        listen = self._pubsub.get_message

        async def get_message(*args: Any, **kwargs: Any) -> Any:
            try:
                return await listen(*args, **kwargs)
            except Exception:
                self.interrupt()
                raise

        self._pubsub.get_message = get_message

    def interrupt(self) -> None:
        layer = self.channel_layer
        told = layer.channel_layer.serialize(INTERRUPTED)
        for queue in layer.channels.values():
            queue.put_nowait(told)
