"""Measure AgentLens on SQLite and PostgreSQL.

python -m bench            catalogs of 10k and 100k capabilities, probing, routing
python -m bench 1M         and of a million
python -m bench probing    probing alone
python -m bench routing    routing alone
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
PARTS = ("probing", "routing")


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
        given = environment(server, folder / database / size, size)
        done = in_process(given, "bench.measure", str(SIZES[size]))
        results[size] = {**done, "size": SIZES[size], "environment": given}
    print(f"{database}, over HTTP", file=sys.stderr)
    served.measure(results)
    return results


def part_of(database: str, server: str, folder: Path, part: str) -> dict:
    print(f"{database}, {part}", file=sys.stderr)
    given = environment(server, folder / database / part, part)
    given["AGENTLENS_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    given["AGENTLENS_PROBE_INTERVAL"] = "60"
    return in_process(given, f"bench.{part}")


def environment(server: str, folder: Path, name: str) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
        "AGENTLENS_DATA_DIR": str(folder),
        "AGENTLENS_ADMIN_PASSWORD": "bench",
        "AGENTLENS_PROBER": "off",
        "DATABASE_URL": created(server, name) or f"sqlite:///{folder}/bench.sqlite3",
        "REDIS_URL": "",
    }


def in_process(given: dict[str, str], *module: str) -> dict:
    """In a process of its own: settings are read once."""
    command = [sys.executable, "-m", *module]
    done = subprocess.run(command, env=given, stdout=subprocess.PIPE, check=True)
    return orjson.loads(done.stdout)


def created(server: str, name: str) -> str:
    """The address of a new database on that server, if there is one."""
    if not server:
        return ""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE bench_{name.lower()}".encode())
    return f"{server.rpartition('/')[0]}/bench_{name.lower()}"


def main(asked: str) -> int:
    if asked not in (*SIZES, *PARTS):
        raise SystemExit(f"SIZE must be one of: {', '.join((*SIZES, *PARTS))}")
    limit = SIZES.get(asked, 0)
    sizes = [name for name, size in SIZES.items() if size <= limit]
    parts = [asked] if asked in PARTS else PARTS
    temporary = tempfile.TemporaryDirectory(prefix="agentlens-bench-")
    with temporary as folder, databases() as servers:
        searches = {
            database: measured(database, server, Path(folder), sizes)
            for database, server in servers.items()
            if sizes
        }
        others = {
            (database, part): part_of(database, server, Path(folder), part)
            for database, server in servers.items()
            for part in parts
        }
    return report.show(searches, others)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "100k"))
