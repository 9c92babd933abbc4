"""Run a command with temporary PostgreSQL and Redis servers.

    python tests/with_services.py pytest ...

If a server binary is missing, print a notice and do not run the command. With
AGENTLENS_REQUIRE_SERVICES set, exit with status 1 in that case.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

TIMEOUT_SECONDS = 20


def find_binary(name: str) -> str:
    """Return the path of a binary, or an empty string.

    Debian installs the binaries of PostgreSQL outside the PATH.
    """
    paths = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)
    return shutil.which(name) or (paths[0] if paths else "")


def find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def postgres_user_options() -> dict:
    """Return the subprocess options with which PostgreSQL does not run as root."""
    return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}


@contextmanager
def run_process(command: list, stop: signal.Signals, **options):
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )
    try:
        yield process
    finally:
        process.send_signal(stop)
        process.wait(TIMEOUT_SECONDS)


def wait_for_port(port) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"Nothing listens on port {port}")


@contextmanager
def run_postgresql():
    port = find_free_port()
    with tempfile.TemporaryDirectory(prefix="agentlens-pg-") as folder:
        data = Path(folder) / "data"
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        initdb = [find_binary("initdb"), "--no-sync", "-A", "trust", "-U", "agentlens"]
        subprocess.run(
            [*initdb, "-E", "UTF8", "-D", data],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **postgres_user_options(),
        )
        server = [find_binary("postgres"), "-D", data, "-k", folder, "-p", str(port)]
        server += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        server += ["-c", "max_connections=200"]
        with run_process(server, signal.SIGINT, cwd=folder, **postgres_user_options()):
            wait_for_port(port)
            yield f"postgres://agentlens@127.0.0.1:{port}/postgres"


@contextmanager
def run_redis():
    port = find_free_port()
    server = [find_binary("redis-server"), "--bind", "127.0.0.1", "--port", str(port)]
    server += ["--save", "", "--appendonly", "no"]
    with run_process(server, signal.SIGTERM):
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"


def main() -> int:
    missing = [
        name for name in ("initdb", "postgres", "redis-server") if not find_binary(name)
    ]
    if missing:
        print(f"\n*** NOT RUN on PostgreSQL and Redis: {missing} not found ***\n")
        return 1 if os.environ.get("AGENTLENS_REQUIRE_SERVICES") else 0
    with ExitStack() as services:
        database, cache = (
            services.enter_context(s()) for s in (run_postgresql, run_redis)
        )
        environment = {**os.environ, "DATABASE_URL": database, "REDIS_URL": cache}
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
