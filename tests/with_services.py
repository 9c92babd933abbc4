"""Run a command with a PostgreSQL and a Redis of its own, gone when it ends.

    python tests/with_services.py pytest ...

Without their binaries it says so, loudly, and runs nothing; that is a failure
where AGENTLENS_REQUIRE_SERVICES is set.
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

PATIENCE = 20


def binary(name: str) -> str:
    """The newest installed, for Debian keeps PostgreSQL's out of the PATH."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)
    return shutil.which(name) or (found[0] if found else "")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def as_postgres() -> dict:
    """PostgreSQL refuses to run as root."""
    return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}


@contextmanager
def running(command: list, stop: signal.Signals, **options):
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )
    try:
        yield process
    finally:
        process.send_signal(stop)
        process.wait(PATIENCE)


def wait_for(path_or_port) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", path_or_port), 1):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"Nothing listens on port {path_or_port}")


@contextmanager
def postgresql():
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="agentlens-pg-") as folder:
        data = Path(folder) / "data"
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        initdb = [binary("initdb"), "--no-sync", "-A", "trust", "-U", "agentlens"]
        subprocess.run(
            [*initdb, "-E", "UTF8", "-D", data],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **as_postgres(),
        )
        server = [binary("postgres"), "-D", data, "-k", folder, "-p", str(port)]
        server += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        server += ["-c", "max_connections=200"]
        with running(server, signal.SIGINT, cwd=folder, **as_postgres()):
            wait_for(port)
            yield f"postgres://agentlens@127.0.0.1:{port}/postgres"


@contextmanager
def redis():
    port = free_port()
    server = [binary("redis-server"), "--bind", "127.0.0.1", "--port", str(port)]
    server += ["--save", "", "--appendonly", "no"]
    with running(server, signal.SIGTERM):
        wait_for(port)
        yield f"redis://127.0.0.1:{port}/0"


def main() -> int:
    missing = [n for n in ("initdb", "postgres", "redis-server") if not binary(n)]
    if missing:
        print(f"\n*** NOT RUN on PostgreSQL and Redis: {missing} not found ***\n")
        return 1 if os.environ.get("AGENTLENS_REQUIRE_SERVICES") else 0
    with ExitStack() as services:
        database, cache = (services.enter_context(s()) for s in (postgresql, redis))
        environment = {**os.environ, "DATABASE_URL": database, "REDIS_URL": cache}
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
