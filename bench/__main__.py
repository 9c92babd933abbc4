"""Measure AgentLens on SQLite and PostgreSQL.

python -m bench            catalogs of 10k and 100k capabilities, probing, routing
python -m bench 1M         also a catalog of a million
python -m bench probing    only probing
python -m bench routing    only routing
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

from tests.with_services import find_binary, run_postgresql

from . import report, served

SIZES = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000}
PARTS = ("probing", "routing")


@contextmanager
def run_databases() -> Iterator[dict[str, str]]:
    """Yield the URL of each database server; SQLite has none."""
    if not (find_binary("initdb") and find_binary("postgres")):
        print("\n*** NOT MEASURED on PostgreSQL: initdb, postgres not found ***\n")
        yield {"SQLite": ""}
        return
    with run_postgresql() as server:
        yield {"SQLite": "", "PostgreSQL": server}


def measure_sizes(database: str, server: str, folder: Path, sizes: list[str]) -> dict:
    results = {}
    for size in sizes:
        print(f"{database}, {size}", file=sys.stderr)
        env = build_environment(server, folder / database / size, size)
        result = run_module(env, "bench.measure", str(SIZES[size]))
        results[size] = {**result, "size": SIZES[size], "environment": env}
    print(f"{database}, over HTTP", file=sys.stderr)
    served.measure(results)
    return results


def measure_part(database: str, server: str, folder: Path, part: str) -> dict:
    print(f"{database}, {part}", file=sys.stderr)
    env = build_environment(server, folder / database / part, part)
    env["AGENTLENS_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    env["AGENTLENS_PROBE_INTERVAL"] = "60"
    return run_module(env, f"bench.{part}")


def build_environment(server: str, folder: Path, name: str) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
        "AGENTLENS_DATA_DIR": str(folder),
        "AGENTLENS_ADMIN_PASSWORD": "bench",
        "AGENTLENS_PROBER": "off",
        "DATABASE_URL": create_database(server, name)
        or f"sqlite:///{folder}/bench.sqlite3",
        "REDIS_URL": "",
    }


def run_module(env: dict[str, str], *module: str) -> dict:
    """Run a module in a new process, because settings are read only once."""
    command = [sys.executable, "-m", *module]
    result = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    return orjson.loads(result.stdout)


def create_database(server: str, name: str) -> str:
    """Create a database and return its URL; return "" without a server."""
    if not server:
        return ""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE bench_{name.lower()}".encode())
    return f"{server.rpartition('/')[0]}/bench_{name.lower()}"


def main(target: str) -> int:
    if target not in (*SIZES, *PARTS):
        raise SystemExit(f"SIZE must be one of: {', '.join((*SIZES, *PARTS))}")
    limit = SIZES.get(target, 0)
    sizes = [name for name, size in SIZES.items() if size <= limit]
    parts = [target] if target in PARTS else PARTS
    temporary = tempfile.TemporaryDirectory(prefix="agentlens-bench-")
    with temporary as folder, run_databases() as servers:
        searches = {
            database: measure_sizes(database, server, Path(folder), sizes)
            for database, server in servers.items()
            if sizes
        }
        parts_results = {
            (database, part): measure_part(database, server, Path(folder), part)
            for database, server in servers.items()
            for part in parts
        }
    return report.print_report(searches, parts_results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "100k"))
