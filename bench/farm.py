"""Agents that live and say no more: one small process, on many addresses of loopback.

python -m bench.farm 8123
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.with_services import free_port, wait_for

# So many that no host is asked by more than it may be at once.
HOSTS = [f"127.0.0.{n}" for n in range(1, 251)]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Agent(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.asked = transport, b""

    def data_received(self, data: bytes) -> None:
        self.asked += data
        if b"\r\n\r\n" in self.asked:
            self.transport.write(ANSWER)
            self.transport.close()


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Agent, HOSTS, port, backlog=512)
    await server.serve_forever()


@contextmanager
def farming() -> Iterator[int]:
    """The port at which every host of the farm answers."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "bench.farm", str(port)])
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def endpoint(port: int, n: int) -> str:
    return f"http://{HOSTS[n % len(HOSTS)]}:{port}/{n}"


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
