"""What probing costs, on one database: how quick it is, and who has to wait for it.

    python -m bench.probing

Reads its database from the environment, as the product does; prints JSON.
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
from catalog.health.history import start_of_hour  # noqa: E402
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
from .clock import Times, clocked  # noqa: E402
from .farm import endpoint, farming  # noqa: E402
from .measure import token_of, told  # noqa: E402
from .queries import Ask, mix  # noqa: E402
from .served import PRODUCT, Client, path, serving  # noqa: E402

ENTRIES, FEW = 10_000, 1_000
# Only the few have capabilities: the search is that of the smallest size.
CAPABILITIES = FEW * data.PER_AGENT
# Windows with probing and without, in turn; so many requests in each that it lasts
# for some seconds: the prober looks about once in a second.
WINDOWS, REQUESTS, WARM = 2, 300, 30
SETTLED = 1.0
COMMAND = [sys.executable, "-m", "agentlens.cli", "probe"]


class Farmers(data.Maker):
    """Agents of the farm, all known to live: what probing finds nearly always."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port, self.silent = port, False

    def agent_type(self, n: int) -> AgentType:
        agent_type = super().agent_type(n)
        agent_type.protocol, agent_type.endpoint = "a2a", endpoint(self.port, n)
        agent_type.agent_key = compute_agent_key("a2a", agent_type.endpoint)
        return agent_type

    def entry(self, agent_type: AgentType) -> CatalogEntry:
        entry = super().entry(agent_type)
        entry.status = Status.ACTIVE
        return entry

    def capabilities(self, agent_type: AgentType) -> list[Capability]:
        return [] if self.silent else super().capabilities(agent_type)


def build(port: int) -> None:
    farmers = Farmers(port)
    data.build(CAPABILITIES, farmers)
    farmers.silent = True
    for start in range(FEW, ENTRIES, data.CHUNK):
        farmers.write(range(start, start + data.CHUNK))
    # As after the first probe of an hour: the other fifty-nine only count.
    hour = start_of_hour(timezone.now())
    HealthHour.objects.bulk_create(
        HealthHour(entry_id=pk, hour=hour, probes=1)
        for pk in CatalogEntry.objects.values_list("pk", flat=True)
    )
    data.settle()


def round_of_all() -> dict:
    """One prober, as a process of its own, while everything is due at once."""
    idle, _ = timed_round()
    CatalogEntry.objects.update(next_probe_at=timezone.now())
    busy, said = timed_round()
    probed = CatalogEntry.objects.filter(
        last_probed_at__isnull=False, status=Status.ACTIVE
    )
    counts = {probed.count(), ProbeResult.objects.count()}
    right = counts == {ENTRIES} and said == f"{ENTRIES} agents probed"
    wrong = [] if right else [f"a round of {ENTRIES}: {said}, {counts} written"]
    return {
        "entries": ENTRIES,
        "interval": settings.AGENTLENS_PROBE_INTERVAL,
        "round": busy - idle,
        "differing": wrong,
    }


def timed_round() -> tuple[float, str]:
    start = time.perf_counter()
    done = subprocess.run([*COMMAND, "--once"], stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - start, done.stdout.decode().strip()


def let_be() -> None:
    """Nothing is due, for a long time."""
    CatalogEntry.objects.update(next_probe_at=data.NEVER)


def let_come(count: int) -> None:
    """So many come due, second by second, and all of them within one interval."""
    keys = list(CatalogEntry.objects.order_by("pk").values_list("pk", flat=True))
    seconds, now = int(settings.AGENTLENS_PROBE_INTERVAL), timezone.now()
    for n in range(seconds):
        some = CatalogEntry.objects.filter(pk__in=keys[:count][n::seconds])
        some.update(next_probe_at=now + timedelta(seconds=n))


def asked(client: Client, count: int) -> dict:
    """The same questions while probing and while not; the same processes run on."""
    window = Window(client, count)
    questions = mix(CAPABILITIES, WINDOWS * REQUESTS)
    for ask in questions[:WARM]:
        client.get(path(ask))
    for n in range(WINDOWS):
        asks = questions[n * REQUESTS : (n + 1) * REQUESTS]
        # Now the one first, now the other.
        for measure in (window.probing, window.quiet)[:: -1 if n % 2 else 1]:
            measure(asks)
    rate = window.probes / window.seconds
    return {"count": count, "rate": rate, **window.times}


class Window:
    def __init__(self, client: Client, count: int) -> None:
        self.client, self.count = client, count
        self.times: dict[str, Times] = {"probing": [], "quiet": []}
        self.probes, self.seconds = 0, 0.0

    def quiet(self, asks: list[Ask]) -> None:
        let_be()
        time.sleep(SETTLED)
        self.times["quiet"] += self.clocked(asks)

    def probing(self, asks: list[Ask]) -> None:
        let_come(self.count)
        time.sleep(SETTLED)
        start, before = time.perf_counter(), ProbeResult.objects.count()
        self.times["probing"] += self.clocked(asks)
        self.seconds += time.perf_counter() - start
        self.probes += ProbeResult.objects.count() - before

    def clocked(self, asks: list[Ask]) -> Times:
        return [clocked(lambda ask: self.client.get(path(ask)), a) for a in asks]


@contextmanager
def prober(environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(COMMAND, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def embedded(token: str, environment: dict[str, str], count: int) -> dict:
    """The prober lives in the server, as it does unless one asks otherwise."""
    let_be()
    given = {**environment, "AGENTLENS_PROBER": "on"}
    with serving(PRODUCT, token, given) as client:
        return asked(client, count)


def apart(token: str, environment: dict[str, str]) -> dict:
    """The prober is a process of its own, and the server has none."""
    let_be()
    with ExitStack() as running:
        client = running.enter_context(serving(PRODUCT, token, environment))
        running.enter_context(prober(environment))
        return asked(client, ENTRIES)


def main() -> dict:
    prepare_database()
    token, environment = token_of("Viewer"), dict(os.environ)
    with farming() as port:
        told("built", build, port)
        return {
            **told("a round of all", round_of_all),
            "embedded": told("the prober embedded", embedded, token, environment, FEW),
            "embedded_many": told(
                "the prober embedded, with many", embedded, token, environment, ENTRIES
            ),
            "apart": told("the prober apart", apart, token, environment),
        }


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main()))
