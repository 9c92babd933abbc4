"""`agentlens serve` and `agentlens probe` as separate processes."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

from agentlens.cli import format_address
from tests.factories import card_bytes
from tests.servers import reply, run_server
from tests.waiting import wait_until
from tests.with_services import find_free_port

CARD = "/.well-known/agent-card.json"


@pytest.fixture
def environment(tmp_path):
    """Return variables for a separate database and a probe every second."""
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
    with run_server() as server:
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
def run_serve_command(environment, *options, output=subprocess.DEVNULL):
    """Start `agentlens serve` and yield a client of it."""
    port = find_free_port()
    command = [sys.executable, "-m", "agentlens.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(
        [*command, *options], env=environment, stdout=output, stderr=output
    )
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client:
        try:
            wait_until(lambda: is_ready(client))
            yield client
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0


@pytest.mark.services
def test_open_event_stream_ends_without_error_on_shutdown(environment, tmp_path):
    environment |= {"AGENTLENS_ANONYMOUS_READ": "on"}
    with (
        (tmp_path / "log").open("w") as log,
        run_serve_command(environment, "--no-prober", output=log) as client,
    ):
        request = client.build_request("GET", "/api/v1/registry/events")
        lines = client.send(request, stream=True).iter_lines()
        assert next(lines) == ": listening"

    assert "Traceback" not in (tmp_path / "log").read_text()


def is_ready(client):
    try:
        return client.get("/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def list_temporary_files(environment):
    return [name for name in os.listdir(environment["TMPDIR"]) if "agentlens" in name]


@pytest.mark.services
@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one", "two"])
def test_serve_probes_agents_and_removes_temporary_files(environment, agent, options):
    with run_serve_command(environment, *options):
        run(environment, "import", agent.url())
        agent.requests.clear()
        wait_until(lambda: len(agent.requests) >= 2)

    assert list_temporary_files(environment) == []


def run_due_probes(environment) -> int:
    """Run `agentlens probe --once` and return the number of probes made."""
    return int(run(environment, "probe", "--once").stdout.split()[-1])


@pytest.mark.services
def test_serve_with_no_prober_sends_no_probes(environment, agent):
    with run_serve_command(environment, "--no-prober"):
        run(environment, "import", agent.url())
        agent.requests.clear()
        # After two intervals, the only probes are those that were made here.
        for _ in range(2):
            wait_until(lambda: run_due_probes(environment) == 1)

    assert len(agent.requests) == 2


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
def test_command_without_migrated_database_exits_with_message(environment, command):
    result = run(environment, *command)

    assert result.returncode == 1
    assert "The database is not up to date" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.services
def test_probe_once_probes_all_due_agents(environment, agent):
    run(environment, "manage", "migrate", "--verbosity", "0")
    run(environment, "import", agent.url())
    agent.requests.clear()
    wait_until(lambda: run_due_probes(environment) == 1)

    assert len(agent.requests) == 1


def test_unreachable_database_is_reported_without_traceback(environment):
    environment |= {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    for command in (["search"], ["serve", "--port", str(find_free_port())]):
        result = run(environment, *command)

        assert result.returncode == 1
        assert result.stderr.startswith("Error: Cannot use the database: ")
        assert result.stderr.endswith(". Check DATABASE_URL.\n")
        assert "Traceback" not in result.stderr


def test_serve_reports_port_in_use_before_starting(environment):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        result = run(environment, "serve", "--port", port)

    assert result.returncode == 1
    message = (
        f"Error: Cannot listen on 127.0.0.1:{port}: Address already in use."
        " Choose another --host or --port.\n"
    )
    assert (result.stdout, result.stderr) == ("", message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("AGENTLENS_PROBE_CONCURRENCY", "0", "must be at least 1"),
        ("AGENTLENS_PROBES_PER_HOST", "0", "must be at least 1"),
        ("AGENTLENS_PROBE_INTERVAL", "soon", "must be a number"),
        (
            "AGENTLENS_PROBE_TIMEOUT",
            "nan",
            "must be a finite number of at least 0.1",
        ),
        ("AGENTLENS_PROBE_TIMEOUT", "0", "must be at least 0.1"),
        ("AGENTLENS_FETCH_SLOTS", "1.5", "must be an integer"),
        ("AGENTLENS_REFRESH_INTERVAL", "-1", "must be at least 0"),
        (
            "AGENTLENS_PROBE_LEASE",
            "5",
            "must be at least 6 (AGENTLENS_PROBE_TIMEOUT + 1)",
        ),
        ("AGENTLENS_LOGIN_FAILURES", "abc", "must be an integer"),
        ("AGENTLENS_HSTS_SECONDS", "a", "must be an integer"),
        ("AGENTLENS_SECURE_COOKIES", "ture", "must be on or off"),
        ("DEBUG", "maybe", "must be on or off"),
        ("DATABASE_URL", "mysql://h/d", "must begin with sqlite:// or postgres://"),
        ("DATABASE_URL", "nonsense", "must begin with sqlite:// or postgres://"),
        (
            "AGENTLENS_ALLOWED_NETWORKS",
            "10.1.2.3/8",
            "must be a list of networks: 10.1.2.3/8 has host bits set",
        ),
    ],
)
def test_invalid_setting_prevents_start(environment, name, value, message):
    result = run(environment | {name: value}, "search")

    assert result.returncode == 1
    assert result.stderr == f"Error: {name} {message}\n"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1:8000"),
        ("agents.example", "agents.example:8000"),
        ("::1", "[::1]:8000"),
    ],
)
def test_format_address_puts_ipv6_addresses_in_brackets(host, address):
    assert format_address(host, 8000) == address
