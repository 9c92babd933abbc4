"""Measure routing decisions relative to an endpoint that does nothing.

    python -m bench.routing

Reads the database from the environment, like AgentLens itself; prints JSON.
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
from catalog.health.uptime import truncate_to_hour  # noqa: E402
from catalog.models import CatalogEntry, HealthHour, Status  # noqa: E402
from routing.models import CapabilityRegistration, RequestSecond  # noqa: E402

from . import data  # noqa: E402
from .http_server import AGENTLENS_APPLICATION, HTTPClient, run_server  # noqa: E402
from .measure import create_token, log_duration  # noqa: E402
from .queries import BenchQuery  # noqa: E402
from .timing import measure_interleaved  # noqa: E402

CAPABILITY_COUNT, PROVIDERS_PER_CAPABILITY = 1_000, 10
REQUESTS_PER_TARGET, ROUTING_SECONDS = 600, 60
# Outcomes in one report.
OUTCOMES_PER_REPORT = 100
# Every hundredth registration has a report for each second of the last hour.
BUSY_INTERVAL, HOUR_SECONDS = 100, 3600
REGISTRY_PATH = "/api/v1/registry/capabilities"


def build() -> list[str]:
    """Register ten of a thousand agents for each capability; return the IDs."""
    data.build(CAPABILITY_COUNT * data.CAPABILITIES_PER_AGENT, data.CatalogBuilder())
    CatalogEntry.objects.update(status=Status.ACTIVE, latency_ms=100)
    agents = list(CatalogEntry.objects.values_list("pk", flat=True))
    rng = random.Random(7)  # noqa: S311 - seeded
    registrations = [
        CapabilityRegistration(
            entry_id=agent,
            capability=f"capability-{n}",
            priority=rng.randint(1, 100),
        )
        for n in range(CAPABILITY_COUNT)
        for agent in rng.sample(agents, PROVIDERS_PER_CAPABILITY)
    ]
    CapabilityRegistration.objects.bulk_create(registrations, batch_size=1000)
    log_duration("build history", build_history, registrations, agents)
    data.vacuum()
    return [registration.pk for registration in registrations]


def build_history(registrations: list[CapabilityRegistration], agents: list) -> None:
    """Create reports of the last hour and probes of the last day."""
    now = int(time.time())
    for n, registration in enumerate(registrations):
        step = 1 if n % BUSY_INTERVAL == 0 else 60
        RequestSecond.objects.bulk_create(
            RequestSecond(
                registration=registration, second=now - ago, total=HOUR_SECONDS - ago
            )
            for ago in range(0, HOUR_SECONDS, step)
        )
    CapabilityRegistration.objects.update(requests_total=HOUR_SECONDS)
    this_hour = truncate_to_hour(timezone.now())
    HealthHour.objects.bulk_create(
        HealthHour(
            entry_id=agent,
            hour=this_hour - timedelta(hours=n),
            probes=60,
            up_seconds=HOUR_SECONDS,
            down_seconds=0,
        )
        for agent in agents
        for n in range(24)
    )


def build_targets(client: HTTPClient, registration_ids: list[str]) -> dict:
    rng = random.Random(11)  # noqa: S311
    outcomes = [{"ok": True, "response_time_ms": n} for n in range(OUTCOMES_PER_REPORT)]

    def build_decision_target(strategy: str):
        def request_decision(_: BenchQuery) -> None:
            name = f"capability-{rng.randrange(CAPABILITY_COUNT)}"
            client.get(f"{REGISTRY_PATH}/{name}?routing_strategy={strategy}")

        return request_decision

    def send_report(_: BenchQuery) -> None:
        url = f"{REGISTRY_PATH}/{rng.choice(registration_ids)}/reports"
        client.post(url, {"outcomes": outcomes})

    return {
        "healthz": lambda _: client.get("/healthz"),
        "priority": build_decision_target("priority"),
        "load_balance": build_decision_target("load_balance"),
        "report": send_report,
    }


def main() -> dict:
    prepare_database()
    registration_ids = log_duration("build", build)
    environment = {**os.environ, "AGENTLENS_WRITE_RATE": "1000000"}
    with run_server(
        AGENTLENS_APPLICATION, create_token("Editor"), environment
    ) as client:
        targets = build_targets(client, registration_ids)
        queries = {name: [BenchQuery(name)] * REQUESTS_PER_TARGET for name in targets}
        times = log_duration(
            "measure", measure_interleaved, targets, queries, ROUTING_SECONDS
        )
    return {"times": times, "outcomes": OUTCOMES_PER_REPORT, "differences": []}


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main()))
