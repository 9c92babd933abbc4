"""Measure over HTTP: a server in a separate process, and one keep-alive client."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlencode

import orjson

from tests.with_services import find_free_port, wait_for_port

from .queries import BenchQuery, build_queries, draw_queries
from .timing import measure_interleaved

TIMEOUT = 60
SEARCH_REQUESTS, SECONDS_PER_SERVER = 600, 40
AGENTLENS_APPLICATION = "agentlens.asgi:application"
BARE_APPLICATION = "bench.bare_wsgi:application"


class HTTPClient:
    def __init__(self, port: int, token: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> bytes:
        self.connection.request("GET", path, headers=self.headers)
        return self.read_response(path)

    def post(self, path: str, body: dict) -> bytes:
        headers = {**self.headers, "Content-Type": "application/json"}
        self.connection.request("POST", path, orjson.dumps(body), headers)
        return self.read_response(path)

    def read_response(self, path: str) -> bytes:
        response = self.connection.getresponse()
        body = response.read()
        if response.status not in (200, 204):
            raise SystemExit(f"{path} returned {response.status}: {body[:300]!r}")
        return body


@contextmanager
def run_server(
    application: str, token: str, environment: dict[str, str]
) -> Iterator[HTTPClient]:
    """Run an application as `agentlens serve` does, on loopback, and yield a client."""
    port = find_free_port()
    command = [sys.executable, "-m", "uvicorn", application, "--port", str(port)]
    command += ["--host", "127.0.0.1", "--log-level", "warning", "--no-server-header"]
    command += ["--timeout-keep-alive", str(TIMEOUT)]  # targets take turns
    process = subprocess.Popen(command, env=environment)
    try:
        wait_until_listening(process, port)
        client = HTTPClient(port, token)
        yield client
        client.connection.close()
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def wait_until_listening(process: subprocess.Popen, port: int) -> None:
    """Wait until the server accepts connections; stop if it exits or takes too long.

    The bare server records all queries before it starts to listen.
    """
    deadline = time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return wait_for_port(port)
        except SystemExit:
            continue
    raise SystemExit(f"The server exited or did not start within {TIMEOUT} s")


def build_path(query: BenchQuery) -> str:
    return f"/api/v1/capabilities?{urlencode(query.parameters)}"


def measure(results: dict[str, dict]) -> None:
    """Add the times of HTTP requests to the results of one database, by size.

    The bare server is measured with the smallest size only.
    """
    smallest = next(iter(results))
    targets: dict[str, Callable] = {}
    with ExitStack() as servers:
        for size, result in results.items():
            token, environment = result["token"], result["environment"]
            client = servers.enter_context(
                run_server(AGENTLENS_APPLICATION, token, environment)
            )
            targets[size] = lambda query, client=client: client.get(build_path(query))
            check_results(targets[size], result)
        result = results[smallest]
        environment = {
            **result["environment"],
            "BENCH_TOKEN": result["token"],
            "BENCH_SIZE": str(result["size"]),
        }
        bare = servers.enter_context(run_server(BARE_APPLICATION, "", environment))
        targets |= build_bare_targets(bare, build_queries(result["size"]))
        sizes = {name: results.get(name, result)["size"] for name in targets}
        queries = {
            name: draw_queries(size, SEARCH_REQUESTS) for name, size in sizes.items()
        }
        times = measure_interleaved(targets, queries, SECONDS_PER_SERVER * len(targets))
    for size, result in results.items():
        result["http"] = times.pop(size)
    results[smallest] |= times


def check_results(target: Callable, result: dict) -> None:
    result["differences"] += [
        f"HTTP: {query}"
        for query, correct in zip(
            build_queries(result["size"]), result["expected"], strict=True
        )
        if orjson.loads(target(query)) != correct
    ]


def build_bare_targets(
    client: HTTPClient, queries: list[BenchQuery]
) -> dict[str, Callable]:
    """Return targets that request queries from the bare server by their number."""
    numbers = {query: n for n, query in enumerate(queries)}

    def build_target(recording: str) -> Callable:
        return lambda query: client.get(f"/?recording={recording}&n={numbers[query]}")

    return {name: build_target(name) for name in ("endpoint", "search")}
