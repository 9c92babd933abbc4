"""Simulated agents: one process that responds on many loopback addresses.

python -m bench.simulated_agents 8123
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.with_services import find_free_port, wait_for_port

# Enough that the limit on concurrent probes per host is never reached.
HOSTS = [f"127.0.0.{n}" for n in range(1, 251)]
CARD = b'{"name": "Simulated", "url": "http://127.0.0.1", "skills": []}'
HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {len(CARD)}\r\nConnection: close\r\n\r\n"
RESPONSE = HEAD.encode() + CARD


class AgentProtocol(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        if b"\r\n\r\n" in self.received:
            self.transport.write(RESPONSE)
            self.transport.close()


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(AgentProtocol, HOSTS, port, backlog=512)
    await server.serve_forever()


@contextmanager
def run_simulated_agents() -> Iterator[int]:
    """Run the agents and yield the port of all their hosts."""
    port = find_free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.simulated_agents", str(port)]
    )
    try:
        wait_for_port(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def build_endpoint(port: int, n: int) -> str:
    return f"http://{HOSTS[n % len(HOSTS)]}:{port}/{n}"


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
