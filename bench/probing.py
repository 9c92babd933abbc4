"""Measure probing: how fast it is, and how much it slows down web requests.

    python -m bench.probing

Reads the database from the environment, like AgentLens itself; prints JSON.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import django
import orjson

django.setup()

from django.conf import settings  # noqa: E402 - Django first
from django.utils import timezone  # noqa: E402

from agentlens.start import prepare_database  # noqa: E402
from catalog.health.uptime import truncate_to_hour  # noqa: E402
from catalog.models import (  # noqa: E402
    AgentType,
    Capability,
    CatalogEntry,
    HealthHour,
    ProbeResult,
    Status,
    compute_agent_key,
)

from . import data  # noqa: E402
from .http_server import AGENTLENS_APPLICATION, HTTPClient, build_path, run_server  # noqa: E402
from .measure import create_token, log_duration  # noqa: E402
from .queries import BenchQuery, draw_queries  # noqa: E402
from .simulated_agents import build_endpoint, run_simulated_agents  # noqa: E402
from .timing import Times, measure_call  # noqa: E402

ENTRIES, FEW_ENTRIES = 10_000, 1_000
# Only the few entries have capabilities, so the search has its smallest size.
SEARCHABLE_CAPABILITIES = FEW_ENTRIES * data.CAPABILITIES_PER_AGENT
# Rounds with and without probing. Each lasts for seconds, because the prober claims
# entries about once per second.
ROUNDS, REQUESTS_PER_ROUND, WARM_UP_REQUESTS = 2, 300, 30
SETTLE_SECONDS = 1.0
COMMAND = [sys.executable, "-m", "agentlens.cli", "probe"]


class SimulatedCatalogBuilder(data.CatalogBuilder):
    """Builds entries of the simulated agents, all active."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port, self.without_capabilities = port, False

    def build_agent_type(self, n: int) -> AgentType:
        agent_type = super().build_agent_type(n)
        agent_type.protocol, agent_type.endpoint = "a2a", build_endpoint(self.port, n)
        agent_type.agent_key = compute_agent_key("a2a", agent_type.endpoint)
        return agent_type

    def build_entry(self, agent_type: AgentType) -> CatalogEntry:
        entry = super().build_entry(agent_type)
        entry.status = Status.ACTIVE
        return entry

    def build_capabilities(self, agent_type: AgentType) -> list[Capability]:
        if self.without_capabilities:
            return []
        return super().build_capabilities(agent_type)


def build(port: int) -> None:
    builder = SimulatedCatalogBuilder(port)
    data.build(SEARCHABLE_CAPABILITIES, builder)
    builder.without_capabilities = True
    for start in range(FEW_ENTRIES, ENTRIES, data.BATCH_SIZE):
        builder.create_agents(range(start, start + data.BATCH_SIZE))
    # The first probe of an hour inserts a row, the other fifty-nine update it.
    hour = truncate_to_hour(timezone.now())
    HealthHour.objects.bulk_create(
        HealthHour(entry_id=pk, hour=hour, probes=1, up_seconds=60, down_seconds=0)
        for pk in CatalogEntry.objects.values_list("pk", flat=True)
    )
    data.vacuum()


def measure_round() -> dict:
    """Measure how long one prober takes if all entries are due."""
    idle, _ = time_probe_once()
    CatalogEntry.objects.update(next_probe_at=timezone.now())
    busy, output = time_probe_once()
    probed = CatalogEntry.objects.filter(
        last_probed_at__isnull=False, status=Status.ACTIVE
    )
    probed_count, result_count = probed.count(), ProbeResult.objects.count()
    is_correct = (
        probed_count == result_count == ENTRIES and output == f"Probes made: {ENTRIES}"
    )
    difference = (
        f"a round of {ENTRIES} entries: {output!r}, but {probed_count} entries are"
        f" active and probed, and {result_count} results are stored"
    )
    return {
        "entries": ENTRIES,
        "interval": settings.AGENTLENS_PROBE_INTERVAL,
        "round": busy - idle,
        "differences": [] if is_correct else [difference],
    }


def time_probe_once() -> tuple[float, str]:
    start = time.perf_counter()
    result = subprocess.run([*COMMAND, "--once"], stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - start, result.stdout.decode().strip()


def postpone_all() -> None:
    """Make no entry due for a long time."""
    CatalogEntry.objects.update(next_probe_at=data.FAR_FUTURE)


def schedule_probes(count: int) -> None:
    """Make this number of entries due within one interval, some in each second."""
    keys = list(CatalogEntry.objects.order_by("pk").values_list("pk", flat=True))
    seconds, now = int(settings.AGENTLENS_PROBE_INTERVAL), timezone.now()
    for n in range(seconds):
        entries = CatalogEntry.objects.filter(pk__in=keys[:count][n::seconds])
        entries.update(next_probe_at=now + timedelta(seconds=n))


def measure_requests(client: HTTPClient, count: int) -> dict:
    """Measure the same queries with and without probing, in the same processes."""
    measurement = Measurement(client, count)
    queries = draw_queries(SEARCHABLE_CAPABILITIES, ROUNDS * REQUESTS_PER_ROUND)
    for query in queries[:WARM_UP_REQUESTS]:
        client.get(build_path(query))
    for n in range(ROUNDS):
        round_queries = queries[n * REQUESTS_PER_ROUND : (n + 1) * REQUESTS_PER_ROUND]
        # Alternate which of the two comes first.
        measures = (measurement.measure_probing, measurement.measure_idle)
        for measure in measures[:: -1 if n % 2 else 1]:
            measure(round_queries)
    rate = measurement.probes / measurement.seconds
    return {"count": count, "rate": rate, **measurement.times}


class Measurement:
    def __init__(self, client: HTTPClient, count: int) -> None:
        self.client, self.count = client, count
        self.times: dict[str, Times] = {"probing": [], "idle": []}
        self.probes, self.seconds = 0, 0.0

    def measure_idle(self, queries: list[BenchQuery]) -> None:
        postpone_all()
        time.sleep(SETTLE_SECONDS)
        self.times["idle"] += self.measure_calls(queries)

    def measure_probing(self, queries: list[BenchQuery]) -> None:
        schedule_probes(self.count)
        time.sleep(SETTLE_SECONDS)
        start, before = time.perf_counter(), ProbeResult.objects.count()
        self.times["probing"] += self.measure_calls(queries)
        self.seconds += time.perf_counter() - start
        self.probes += ProbeResult.objects.count() - before

    def measure_calls(self, queries: list[BenchQuery]) -> Times:
        def send(query: BenchQuery) -> bytes:
            return self.client.get(build_path(query))

        return [measure_call(send, query) for query in queries]


@contextmanager
def run_prober(environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(COMMAND, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def measure_embedded(token: str, environment: dict[str, str], count: int) -> dict:
    """Measure with a prober in the web process, which is the default."""
    postpone_all()
    environment = {**environment, "AGENTLENS_PROBER": "on"}
    with run_server(AGENTLENS_APPLICATION, token, environment) as client:
        return measure_requests(client, count)


def measure_separate(token: str, environment: dict[str, str]) -> dict:
    """Measure with a prober in a separate process, and none in the web process."""
    postpone_all()
    with ExitStack() as running:
        client = running.enter_context(
            run_server(AGENTLENS_APPLICATION, token, environment)
        )
        running.enter_context(run_prober(environment))
        return measure_requests(client, ENTRIES)


def main() -> dict:
    prepare_database()
    token, environment = create_token("Viewer"), dict(os.environ)
    with run_simulated_agents() as port:
        log_duration("build", build, port)
        return {
            **log_duration("one round", measure_round),
            "embedded": log_duration(
                "embedded prober", measure_embedded, token, environment, FEW_ENTRIES
            ),
            "embedded_many": log_duration(
                "embedded prober, many entries",
                measure_embedded,
                token,
                environment,
                ENTRIES,
            ),
            "separate": log_duration(
                "separate prober", measure_separate, token, environment
            ),
        }


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main()))
