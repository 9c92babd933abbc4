"""Probes, imports and refreshes of real MCP servers of many versions."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from catalog.models import Status
from catalog.registration.service import (
    import_url,
    probe_now,
    refresh_entry,
    register,
)
from tests.real_mcp.environments import install_all, wait_for_installation
from tests.real_mcp.servers import SERVER_VERSIONS, run_real_server
from tests.registered_agents import mcp_definition
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.mcp_servers]

PROBE_COUNT = 200
# Probes before the memory is measured: they fill caches and load modules.
WARM_UP_COUNT = 50
# 200 sessions of the Python SDK need 8 MB; 200 harmless requests less than 1 MB.
MEMORY_LIMIT = 2_000_000
CLIENT_TIMEOUT = 120
# Seconds between calls of the other client, so that the probes get processor time.
CALL_INTERVAL = 0.05


@pytest.fixture(scope="session")
def installations():
    """Install all environments at the same time; map each one to its future."""
    with install_all({version.environment for version in SERVER_VERSIONS}) as futures:
        yield futures


@pytest.fixture(
    scope="module", params=SERVER_VERSIONS, ids=lambda version: version.name
)
def real_server(request, installations):
    installed = wait_for_installation(installations[request.param.environment])
    with run_real_server(request.param, installed) as server:
        yield server


class OtherClient:
    """A client of a server, independent of the catalog.

    It never closes its sessions, because that stops servers of old versions.
    """

    def __init__(self, server) -> None:
        self.version, self.url = server.version, server.url
        self.answer_count = 0
        self.stopped = threading.Event()

    def open_transport(self):
        if self.version.transport == "sse":
            return sse_client(self.url)
        return streamable_http_client(self.url, terminate_on_close=False)

    async def use_session(self, is_finished: Callable[[], bool]) -> None:
        """Open a session, list the tools, and call one until it is finished."""
        client = Client(self.open_transport(), mode="legacy", cache=None)
        async with asyncio.timeout(CLIENT_TIMEOUT), client:
            tools = await client.list_tools()
            assert self.version.tool in {tool.name for tool in tools.tools}
            await self.call_tool(client)
            while not is_finished():
                await asyncio.sleep(CALL_INTERVAL)
                await self.call_tool(client)

    async def call_tool(self, client: Client) -> None:
        arguments = {self.version.argument: "Hello"}
        result = await client.call_tool(self.version.tool, arguments)
        assert "Hello" in result.content[0].text
        self.answer_count += 1

    def call_once(self) -> None:
        asyncio.run(self.use_session(lambda: True))

    def call_until_stopped(self) -> None:
        asyncio.run(self.use_session(self.stopped.is_set))


@contextmanager
def calling_in_background(client: OtherClient) -> Iterator[None]:
    """Let a client use one session until the block ends; raise if it fails."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(client.call_until_stopped)
        try:
            wait_until(lambda: client.answer_count > 0 or future.done())
            yield
        finally:
            client.stopped.set()
        future.result()  # raises what the client raised


def register_at(server):
    definition = mcp_definition("Notebook", "add_note", url=server.url)
    definition["remotes"] = [{"type": server.version.transport, "url": server.url}]
    return register(json.dumps(definition).encode()).entry


def probe_repeatedly(entry, count: int) -> None:
    for _ in range(count):
        assert probe_now(entry).error == ""


def test_probes_of_real_server_leave_no_session_t1_t2(real_server):
    client, entry = OtherClient(real_server), register_at(real_server)
    with calling_in_background(client):
        sessions = real_server.read_state().sessions
        probe_repeatedly(entry, WARM_UP_COUNT)
        before, answer_count = real_server.read_state(), client.answer_count
        probe_repeatedly(entry, PROBE_COUNT)
        after = real_server.read_state()
        assert client.answer_count > answer_count
    client.call_once()

    assert entry.status == Status.ACTIVE
    assert after.sessions == before.sessions == sessions
    assert after.memory - before.memory < MEMORY_LIMIT


def test_import_and_refresh_of_real_server_keep_it_running_t1(real_server):
    client = OtherClient(real_server)
    client.call_once()

    entry = import_url(real_server.url).entry
    client.call_once()
    refresh_entry(entry)
    client.call_once()

    tools = entry.agent_type.capabilities.filter(kind="mcp.tool")
    assert tools.filter(name=real_server.version.tool).exists()
    assert entry.status == Status.ACTIVE


def test_probes_of_imported_real_server_leave_no_session_t2(real_server):
    entry = import_url(real_server.url).entry
    before = real_server.read_state()

    probe_repeatedly(entry, WARM_UP_COUNT)

    assert real_server.read_state().sessions <= before.sessions
