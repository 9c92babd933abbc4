"""`agentlens serve` and `agentlens probe` as processes of their own."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx2
import pytest

from tests.factories import card_bytes
from tests.servers import reply
from tests.servers import serving as agents
from tests.with_services import free_port

CARD = "/.well-known/agent-card.json"


@pytest.fixture
def environment(tmp_path):
    """A database of its own, and probes once a second."""
    for folder in ("data", "tmp"):
        (tmp_path / folder).mkdir()
    return {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(tmp_path / "tmp"),
        "AGENTLENS_DATA_DIR": str(tmp_path / "data"),
        "AGENTLENS_ADMIN_PASSWORD": "horse battery",
        "AGENTLENS_ALLOWED_NETWORKS": "127.0.0.0/8",
        "AGENTLENS_PROBE_INTERVAL": "1",
        "REDIS_URL": os.environ.get("REDIS_URL", ""),
    }


@pytest.fixture
def agent():
    with agents() as server:
        server.routes[CARD] = reply(body=card_bytes(url=server.url("/a2a")))
        yield server


def run(environment, *arguments):
    command = [sys.executable, "-m", "agentlens.cli", *arguments]
    return subprocess.run(
        command,
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@contextmanager
def serving(environment, *options, **told):
    port = free_port()
    command = [sys.executable, "-m", "agentlens.cli", "serve", "--port", str(port)]
    told = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | told
    process = subprocess.Popen([*command, *options], env=environment, **told)
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client:
        try:
            wait_until(lambda: is_ready(client))
            yield client
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0


@pytest.mark.services
def test_an_open_stream_ends_without_a_mishap_when_the_server_stops(
    environment, tmp_path
):
    environment |= {"AGENTLENS_ANONYMOUS_READ": "on"}
    with (tmp_path / "log").open("w") as log:
        told = {"stdout": log, "stderr": log}
        with serving(environment, "--no-prober", **told) as client:
            ask = client.build_request("GET", "/api/v1/registry/events")
            stream = client.send(ask, stream=True)
            lines = stream.iter_lines()
            assert next(lines) == ": listening"

    assert "Traceback" not in (tmp_path / "log").read_text()


def is_ready(client):
    try:
        return client.get("/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came about")


def left_behind(environment):
    return [name for name in os.listdir(environment["TMPDIR"]) if "agentlens" in name]


@pytest.mark.services
@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one", "two"])
def test_the_web_process_probes_by_itself_and_tidies_up(environment, agent, options):
    with serving(environment, *options):
        run(environment, "import", agent.url())
        agent.requests.clear()
        wait_until(lambda: len(agent.requests) >= 2)

    assert left_behind(environment) == []


@pytest.mark.services
def test_without_a_prober_nobody_is_asked(environment, agent):
    with serving(environment, "--no-prober"):
        run(environment, "import", agent.url())
        agent.requests.clear()
        time.sleep(3)

    assert agent.requests == []


@pytest.mark.parametrize(
    "command",
    [
        ["probe", "--once"],
        ["import", "."],
        ["export"],
        ["demo"],
        ["search"],
        ["reindex"],
        ["token", "create", "admin"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_on_a_database_without_tables_says_so(environment, command):
    result = run(environment, *command)

    assert result.returncode == 1
    assert "The database is not up to date" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.services
def test_a_prober_asked_to_do_it_once_does_all_that_is_due(environment, agent):
    run(environment, "manage", "migrate", "--verbosity", "0")
    run(environment, "import", agent.url())
    agent.requests.clear()
    time.sleep(1.2)
    result = run(environment, "probe", "--once")

    assert result.stdout == "1 agents probed\n"
    assert len(agent.requests) == 1


def test_a_database_that_does_not_answer_is_told_in_words(environment):
    environment |= {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    for command in (["search"], ["serve", "--port", str(free_port())]):
        result = run(environment, *command)

        assert result.returncode == 1
        assert result.stderr.startswith("Error: The database cannot be used: ")
        assert "Traceback" not in result.stderr


def test_a_port_that_is_taken_is_told_before_anything_is_promised(environment):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run(environment, "serve", "--port", port)

    assert result.returncode == 1
    told = f"Error: Cannot serve at 127.0.0.1:{port}: Address already in use\n"
    assert (result.stdout, result.stderr) == ("", told)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("AGENTLENS_PROBE_CONCURRENCY", "0", "must be at least 1"),
        ("AGENTLENS_PROBES_PER_HOST", "0", "must be at least 1"),
        ("AGENTLENS_PROBE_INTERVAL", "soon", "must be a number"),
        ("AGENTLENS_PROBE_TIMEOUT", "nan", "must be at least 0.1"),
        ("AGENTLENS_REFRESH_INTERVAL", "-1", "must be at least 0"),
        ("AGENTLENS_PROBE_LEASE", "5", "must be at least 6"),
        ("AGENTLENS_LOGIN_FAILURES", "abc", "must be a number"),
        ("AGENTLENS_HSTS_SECONDS", "a", "must be a number"),
        ("AGENTLENS_SECURE_COOKIES", "ture", "must be on or off"),
        ("DEBUG", "maybe", "must be on or off"),
        ("DATABASE_URL", "mysql://h/d", "must begin with sqlite:// or postgres://"),
        ("DATABASE_URL", "nonsense", "must begin with sqlite:// or postgres://"),
        (
            "AGENTLENS_ALLOWED_NETWORKS",
            "10.1.2.3/8",
            "must be networks: 10.1.2.3/8 has host bits set",
        ),
    ],
)
def test_a_setting_that_cannot_be_meant_stops_the_start(environment, name, value, told):
    result = run(environment | {name: value}, "search")

    assert result.returncode == 1
    assert result.stderr == f"Error: {name} {told}\n"
