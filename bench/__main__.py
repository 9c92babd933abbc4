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

from . import http_server, report

SIZES = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000}
BENCHMARKS = ("probing", "routing")


@contextmanager
def run_databases() -> Iterator[dict[str, str]]:
    """Yield the URL of each database server; SQLite has none."""
    if not (find_binary("initdb") and find_binary("postgres")):
        print("\n*** PostgreSQL is not measured: initdb or postgres is missing ***\n")
        yield {"SQLite": ""}
        return
    with run_postgresql() as server_url:
        yield {"SQLite": "", "PostgreSQL": server_url}


def measure_sizes(
    database: str, server_url: str, folder: Path, sizes: list[str]
) -> dict:
    results = {}
    for size in sizes:
        print(f"{database}, {size}", file=sys.stderr)
        environment = build_environment(server_url, folder / database / size, size)
        result = run_module(environment, "bench.measure", str(SIZES[size]))
        results[size] = {**result, "size": SIZES[size], "environment": environment}
    print(f"{database}, over HTTP", file=sys.stderr)
    http_server.measure(results)
    return results


def run_benchmark(database: str, server_url: str, folder: Path, benchmark: str) -> dict:
    print(f"{database}, {benchmark}", file=sys.stderr)
    data_folder = folder / database / benchmark
    environment = build_environment(server_url, data_folder, benchmark)
    environment["AGENTLENS_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    environment["AGENTLENS_PROBE_INTERVAL"] = "60"
    return run_module(environment, f"bench.{benchmark}")


def build_environment(server_url: str, folder: Path, name: str) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
        "AGENTLENS_DATA_DIR": str(folder),
        "AGENTLENS_ADMIN_PASSWORD": "bench",
        "AGENTLENS_PROBER": "off",
        "DATABASE_URL": create_database(server_url, name)
        or f"sqlite:///{folder}/bench.sqlite3",
        "REDIS_URL": "",
    }


def run_module(environment: dict[str, str], module: str, argument: str = "") -> dict:
    """Run a module in a new process, because settings are read only once."""
    command = [sys.executable, "-m", module]
    if argument:
        command.append(argument)
    result = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, check=True
    )
    return orjson.loads(result.stdout)


def create_database(server_url: str, name: str) -> str:
    """Create a database and return its URL; return "" for SQLite."""
    if not server_url:
        return ""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE bench_{name.lower()}".encode())
    return f"{server_url.rpartition('/')[0]}/bench_{name.lower()}"


def main(target: str) -> int:
    if target not in (*SIZES, *BENCHMARKS):
        names = ", ".join((*SIZES, *BENCHMARKS))
        raise SystemExit(f"The size or benchmark must be one of: {names}")
    limit = SIZES.get(target, 0)
    sizes = [name for name, size in SIZES.items() if size <= limit]
    benchmarks = [target] if target in BENCHMARKS else BENCHMARKS
    temporary = tempfile.TemporaryDirectory(prefix="agentlens-bench-")
    with temporary as folder, run_databases() as servers:
        searches = {
            database: measure_sizes(database, server_url, Path(folder), sizes)
            for database, server_url in servers.items()
            if sizes
        }
        benchmark_results = {
            (database, benchmark): run_benchmark(
                database, server_url, Path(folder), benchmark
            )
            for database, server_url in servers.items()
            for benchmark in benchmarks
        }
    return report.print_report(searches, benchmark_results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "100k"))
