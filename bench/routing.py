"""What a routing decision costs, on one database, beside an answer that does nothing.

    python -m bench.routing

Reads its database from the environment, as the product does; prints JSON.
"""

import os
import random
import sys
import time
from datetime import timedelta

import django
import orjson

django.setup()

from django.utils import timezone  # noqa: E402 - Django first

from agentlens.start import prepare_database  # noqa: E402
from catalog.health.history import start_of_hour  # noqa: E402
from catalog.models import CatalogEntry, HealthHour, Status  # noqa: E402
from routing.models import CapabilityRegistration, RequestSecond  # noqa: E402

from . import data  # noqa: E402
from .clock import in_turn  # noqa: E402
from .measure import token_of, told  # noqa: E402
from .queries import Ask  # noqa: E402
from .served import PRODUCT, Client, serving  # noqa: E402

CAPABILITIES, PROVIDERS = 1_000, 10
REQUESTS, SECONDS = 600, 60
# Requests told in one report.
OUTCOMES = 100
# Every so many of them is reported on every second.
BUSY, HOUR = 100, 3600
PLACE = "/api/v1/registry/capabilities"


def build() -> list[str]:
    """So many capabilities, each offered by ten of a thousand agents."""
    data.build(CAPABILITIES * data.PER_AGENT, data.Maker())
    CatalogEntry.objects.update(status=Status.ACTIVE, latency_ms=100)
    agents = list(CatalogEntry.objects.values_list("pk", flat=True))
    chance = random.Random(7)  # noqa: S311 - the same for everybody
    offers = [
        CapabilityRegistration(
            entry_id=agent,
            capability=f"capability-{n}",
            priority=chance.randint(1, 100),
        )
        for n in range(CAPABILITIES)
        for agent in chance.sample(agents, PROVIDERS)
    ]
    CapabilityRegistration.objects.bulk_create(offers, batch_size=1000)
    told("an hour of traffic and a day of probes", invent_past, offers, agents)
    data.settle()
    return [offer.pk for offer in offers]


def invent_past(offers: list[CapabilityRegistration], agents: list) -> None:
    """Reports of the last hour, for some of them second by second, and all hours."""
    now = int(time.time())
    for n, offer in enumerate(offers):
        step = 1 if n % BUSY == 0 else 60
        RequestSecond.objects.bulk_create(
            RequestSecond(registration=offer, second=now - ago, total=HOUR - ago)
            for ago in range(0, HOUR, step)
        )
    CapabilityRegistration.objects.update(requests_total=HOUR)
    this_hour = start_of_hour(timezone.now())
    HealthHour.objects.bulk_create(
        HealthHour(entry_id=agent, hour=this_hour - timedelta(hours=n), probes=60)
        for agent in agents
        for n in range(24)
    )


def doors(client: Client, offers: list[str]) -> dict:
    chance = random.Random(11)  # noqa: S311
    outcomes = [{"ok": True, "response_time_ms": n} for n in range(OUTCOMES)]

    def decide(strategy: str):
        def ask(_: Ask) -> None:
            name = f"capability-{chance.randrange(CAPABILITIES)}"
            client.get(f"{PLACE}/{name}?routing_strategy={strategy}")

        return ask

    def report(_: Ask) -> None:
        client.post(f"{PLACE}/{chance.choice(offers)}/reports", {"outcomes": outcomes})

    return {
        "healthz": lambda _: client.get("/healthz"),
        "priority": decide("priority"),
        "load_balance": decide("load_balance"),
        "report": report,
    }


def main() -> dict:
    prepare_database()
    offers = told("built", build)
    given = {**os.environ, "AGENTLENS_WRITE_RATE": "1000000"}
    with serving(PRODUCT, token_of("Editor"), given) as client:
        open_doors = doors(client, offers)
        asks = {name: [Ask(name)] * REQUESTS for name in open_doors}
        times = told("asked", in_turn, open_doors, asks, SECONDS)
    return {"times": times, "outcomes": OUTCOMES, "differing": []}


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main()))
