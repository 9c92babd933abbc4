"""Real MCP servers of many versions, each a process in an environment of its own."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.real_mcp.environments import (
    EVERYTHING,
    CurrentEnvironment,
    Environment,
    NodeEnvironment,
    PythonEnvironment,
)

PYTHON_SERVER = Path(__file__).with_name("python_server.py")
NODE_OBSERVER = Path(__file__).with_name("node_observer.cjs")
START_TIMEOUT = 60
POLL_INTERVAL = 0.02
LOG_LENGTH = 2000
PORT_NAMES = {"port", "state"}


@dataclass(frozen=True)
class ServerVersion:
    """A version of a server: its environment, its transport, and a tool that echoes.

    `variant` selects what the environment runs.
    """

    name: str
    environment: Environment
    variant: str
    path: str = "/mcp"
    tool: str = "add_note"
    argument: str = "text"

    @property
    def transport(self) -> str:
        """The transport as client configurations call it."""
        return "sse" if self.path == "/sse" else "http"

    def build_command(self, installed: str) -> list[str]:
        if not isinstance(self.environment, NodeEnvironment):
            return [installed, str(PYTHON_SERVER), self.variant]
        node = [shutil.which("node"), "--expose-gc", "--require", str(NODE_OBSERVER)]
        return [*node, f"{installed}/dist/index.js", self.variant]


SDK_1_9 = PythonEnvironment("mcp-1.9.4")
EVERYTHING_ENVIRONMENT = NodeEnvironment(EVERYTHING, "2026.8.31")
ECHO_TOOL = {"tool": "echo", "argument": "message"}

SERVER_VERSIONS = [
    ServerVersion("mcp-1.9.4", SDK_1_9, "sdk_1", "/mcp/"),
    # This one redirects /mcp to /mcp/.
    ServerVersion("mcp-1.9.4-redirect", SDK_1_9, "sdk_1"),
    ServerVersion("mcp-1.9.4-sse", SDK_1_9, "sdk_1_sse", "/sse"),
    ServerVersion("mcp-1.12.4", PythonEnvironment("mcp-1.12.4"), "sdk_1"),
    ServerVersion("mcp-1.26.0", PythonEnvironment("mcp-1.26.0"), "sdk_1"),
    ServerVersion("mcp-current", CurrentEnvironment(), "sdk_2"),
    ServerVersion("fastmcp-2.14.7", PythonEnvironment("fastmcp-2.14.7"), "fastmcp"),
    ServerVersion("fastmcp-4.1.2", PythonEnvironment("fastmcp-4.1.2"), "fastmcp"),
    ServerVersion("everything", EVERYTHING_ENVIRONMENT, "streamableHttp", **ECHO_TOOL),
    ServerVersion("everything-sse", EVERYTHING_ENVIRONMENT, "sse", "/sse", **ECHO_TOOL),
]


@dataclass(frozen=True)
class State:
    """How many sessions a server has open, and the bytes of memory it uses."""

    sessions: int
    memory: int


@dataclass(frozen=True)
class RunningServer:
    version: ServerVersion
    port: int
    state_port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.version.path}"

    def read_state(self) -> State:
        url = f"http://127.0.0.1:{self.state_port}/state"
        with urllib.request.urlopen(url, timeout=START_TIMEOUT) as response:
            return State(**json.load(response))


@contextmanager
def run_real_server(version: ServerVersion, installed: str) -> Iterator[RunningServer]:
    """Run a server of an installed version on a free port until the block ends."""
    with tempfile.TemporaryDirectory(prefix="agentlens-mcp-") as folder:
        log = Path(folder) / "log"
        process = start_process(version.build_command(installed), folder, log)
        try:
            ports = wait_for_ports(process, log)
            yield RunningServer(version, ports["port"], ports["state"])
        finally:
            stop_process(process)


def start_process(command: list[str], folder: str, log: Path) -> subprocess.Popen:
    """Start a process that stops by itself when this one ends."""
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "PORT": "0"}
    with log.open("w") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop_process(process: subprocess.Popen) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(START_TIMEOUT)
    process.stdin.close()


def wait_for_ports(process: subprocess.Popen, log: Path) -> dict[str, int]:
    """Return the ports that a server printed: of MCP, and of its state."""
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        ports = read_ports(log.read_text())
        if ports.keys() == PORT_NAMES:
            return ports
        time.sleep(POLL_INTERVAL)
    raise AssertionError(f"The server did not start: {log.read_text()[-LOG_LENGTH:]}")


def read_ports(output: str) -> dict[str, int]:
    """Return the numbers in lines like `port 8000`."""
    lines = [line.split() for line in output.splitlines()]
    return {
        words[0]: int(words[1])
        for words in lines
        if len(words) == 2 and words[0] in PORT_NAMES and words[1].isdigit()
    }
