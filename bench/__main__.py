"""Measure AgentLens on SQLite and PostgreSQL.

python -m bench            catalogs of 10k and 100k capabilities
python -m bench 1M         and of a million
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import psycopg

from tests.with_services import binary, postgresql

from . import report, served

SIZES = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000}


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """Where each database is, or where PostgreSQL's are to be made."""
    if not (binary("initdb") and binary("postgres")):
        print("\n*** NOT MEASURED on PostgreSQL: initdb, postgres not found ***\n")
        yield {"SQLite": ""}
        return
    with postgresql() as server:
        yield {"SQLite": "", "PostgreSQL": server}


def measured(database: str, server: str, folder: Path, sizes: list[str]) -> dict:
    results = {}
    for size in sizes:
        print(f"{database}, {size}", file=sys.stderr)
        results[size] = in_process(server, folder / database / size, SIZES[size])
    print(f"{database}, over HTTP", file=sys.stderr)
    served.measure(results)
    return results


def in_process(server: str, folder: Path, size: int) -> dict:
    """In a process of its own: settings are read once."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
        "AGENTLENS_DATA_DIR": str(folder),
        "AGENTLENS_ADMIN_PASSWORD": "bench",
        "AGENTLENS_PROBER": "off",
        "DATABASE_URL": created(server, size) or f"sqlite:///{folder}/bench.sqlite3",
        "REDIS_URL": "",
    }
    command = [sys.executable, "-m", "bench.measure", str(size)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return {**orjson.loads(done.stdout), "size": size, "environment": environment}


def created(server: str, size: int) -> str:
    """The address of a new database on that server, if there is one."""
    if not server:
        return ""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE bench_{size}".encode())
    return f"{server.rpartition('/')[0]}/bench_{size}"


def main(largest: str) -> int:
    if largest not in SIZES:
        raise SystemExit(f"SIZE must be one of: {', '.join(SIZES)}")
    sizes = [name for name, size in SIZES.items() if size <= SIZES[largest]]
    temporary = tempfile.TemporaryDirectory(prefix="agentlens-bench-")
    with temporary as folder, databases() as servers:
        results = {
            database: measured(database, server, Path(folder), sizes)
            for database, server in servers.items()
        }
    return report.show(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "100k"))
