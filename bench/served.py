"""Over HTTP: a server in a process of its own, and one client that keeps its line."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlencode

import orjson

from tests.with_services import free_port, wait_for

from .clock import in_turn
from .queries import Ask, asks, mix

PATIENCE = 60
REQUESTS, SECONDS = 600, 40
PRODUCT = "agentlens.asgi:application"
BARE = "bench.bare:application"


class Client:
    def __init__(self, port: int, token: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> bytes:
        self.connection.request("GET", path, headers=self.headers)
        return self.answer(path)

    def post(self, path: str, body: dict) -> bytes:
        headers = {**self.headers, "Content-Type": "application/json"}
        self.connection.request("POST", path, orjson.dumps(body), headers)
        return self.answer(path)

    def answer(self, path: str) -> bytes:
        response = self.connection.getresponse()
        body = response.read()
        if response.status not in (200, 204):
            raise SystemExit(f"{path} answered {response.status}: {body[:300]!r}")
        return body


@contextmanager
def serving(
    application: str, token: str, environment: dict[str, str]
) -> Iterator[Client]:
    """As `agentlens serve` does it, and on loopback only."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", application, "--port", str(port)]
    command += ["--host", "127.0.0.1", "--log-level", "warning", "--no-server-header"]
    command += ["--timeout-keep-alive", str(PATIENCE)]  # while others have their turn
    process = subprocess.Popen(command, env=environment)
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


def measure(database: dict[str, dict]) -> None:
    """Every size's server, and the bare ones beside the smallest, asked in turn."""
    smallest = next(iter(database))
    doors: dict[str, Callable] = {}
    with ExitStack() as servers:
        for size, result in database.items():
            token, environment = result["token"], result["environment"]
            client = servers.enter_context(serving(PRODUCT, token, environment))
            doors[size] = lambda ask, client=client: client.get(path(ask))
            check(doors[size], result)
        result = database[smallest]
        given = {**result["environment"], "BENCH_TOKEN": result["token"]}
        given["BENCH_SIZE"] = str(result["size"])
        bare = servers.enter_context(serving(BARE, "", given))
        doors |= bare_doors(bare, asks(result["size"]))
        sizes = {name: database.get(name, result)["size"] for name in doors}
        asked = {name: mix(size, REQUESTS) for name, size in sizes.items()}
        times = in_turn(doors, asked, SECONDS * len(doors))
    for size, result in database.items():
        result["http"] = times.pop(size)
    database[smallest] |= times


def check(door: Callable, result: dict) -> None:
    result["differing"] += [
        f"HTTP: {ask}"
        for ask, right in zip(asks(result["size"]), result["expected"], strict=True)
        if orjson.loads(door(ask)) != right
    ]


def bare_doors(client: Client, asked: list[Ask]) -> dict[str, Callable]:
    """The bare server knows the questions by their numbers."""
    numbers = {ask: n for n, ask in enumerate(asked)}

    def door(plan: str) -> Callable:
        return lambda ask: client.get(f"/?plan={plan}&n={numbers[ask]}")

    return {plan: door(plan) for plan in ("whole", "searching")}
