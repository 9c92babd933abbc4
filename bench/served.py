"""Over HTTP: a server in a process of its own, and one client that keeps its line."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlencode

from tests.with_services import free_port, wait_for

from .queries import Ask

PATIENCE = 60
PRODUCT = "agentlens.asgi:application"
BARE = "bench.bare:application"


class Client:
    def __init__(self, port: int, token: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> bytes:
        self.connection.request("GET", path, headers=self.headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:  # noqa: PLR2004
            raise SystemExit(f"{path} answered {response.status}: {body[:300]!r}")
        return body


@contextmanager
def serving(application: str, token: str, **environment: str) -> Iterator[Client]:
    """As `agentlens serve` does it, and on loopback only."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", application, "--port", str(port)]
    command += ["--host", "127.0.0.1", "--log-level", "warning", "--no-server-header"]
    command += ["--timeout-keep-alive", str(PATIENCE)]  # while others have their turn
    process = subprocess.Popen(command, env={**os.environ, **environment})
    try:
        wait_until_listening(process, port)
        client = Client(port, token)
        yield client
        client.connection.close()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_until_listening(process: subprocess.Popen, port: int) -> None:
    """The bare server first asks the product everything, which may take a while."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return wait_for(port)
        except SystemExit:
            continue
    raise SystemExit("The server did not start")


def path(ask: Ask) -> str:
    return f"/api/v1/capabilities?{urlencode(ask.parameters)}"
