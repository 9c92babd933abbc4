"""Generate a catalog of any size, the same every time, in the real tables."""

from datetime import UTC, datetime
from random import Random
from uuid import UUID

import orjson
from django.db import connection, transaction

from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    Provider,
    Source,
    Status,
    compute_agent_key,
)
from catalog.search.indexer import index_entries

from .words import SEED, Words

CAPABILITIES_PER_AGENT = 10
BATCH_SIZE = 500
# 72 % of the entries are reachable.
ENTRY_STATUSES = [Status.ACTIVE, Status.DEGRADED, Status.OFFLINE, Status.UNKNOWN]
STATUS_WEIGHTS = [62, 10, 20, 8]
KINDS_BY_PROTOCOL = {
    "a2a": ["a2a.skill"] * 8 + ["a2a.interface", "agent.feature"],
    "mcp": ["mcp.tool"] * 7 + ["mcp.resource"] * 2 + ["mcp.prompt"],
}
# The generated agents do not exist, so they are never probed.
FAR_FUTURE = datetime(2100, 1, 1, tzinfo=UTC)


def build(capability_count: int, builder: "CatalogBuilder") -> None:
    """Fill an empty database and index it."""
    agent_count = capability_count // CAPABILITIES_PER_AGENT
    Provider.objects.bulk_create(builder.providers)
    for start in range(0, agent_count, BATCH_SIZE):
        end = min(start + BATCH_SIZE, agent_count)
        builder.create_agents(range(start, end))
    with transaction.atomic():
        index_entries(CatalogEntry.objects.all())
    vacuum()


def vacuum() -> None:
    """Update the statistics of PostgreSQL, as autovacuum does some time later."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


class CatalogBuilder:
    def __init__(self) -> None:
        # Seeded, for the same catalog every time.
        self.random = Random(SEED)  # noqa: S311
        self.words = Words(self.random)
        self.providers = [
            Provider(
                id=self.build_uuid(), organization=f"{self.build_title(2)} {n}", url=url
            )
            for n, url in enumerate(["", "https://provider.invalid"] * 50)
        ]

    def build_uuid(self) -> UUID:
        return UUID(int=self.random.getrandbits(128), version=4)

    def build_title(self, count: int) -> str:
        return " ".join(self.words.draw(count)).title()

    @transaction.atomic
    def create_agents(self, agent_numbers: range) -> None:
        agent_types = [self.build_agent_type(n) for n in agent_numbers]
        capabilities = [
            capability
            for agent_type in agent_types
            for capability in self.build_capabilities(agent_type)
        ]
        AgentType.objects.bulk_create(agent_types)
        CatalogEntry.objects.bulk_create(map(self.build_entry, agent_types))
        Capability.objects.bulk_create(capabilities)

    def build_agent_type(self, n: int) -> AgentType:
        protocol = self.random.choices(["a2a", "mcp"], [6, 4])[0]
        endpoint = f"https://agent-{n}.invalid/{protocol}"
        return AgentType(
            id=self.build_uuid(),
            agent_key=compute_agent_key(protocol, endpoint),
            protocol=protocol,
            endpoint=endpoint,
            version="1.0.0",
            spec_version="0.3.0",
            provider=self.random.choice([None, *self.providers]),
            raw_definition=orjson.dumps(
                {"url": endpoint, "about": self.build_title(60)}
            ),
        )

    def build_entry(self, agent_type: AgentType) -> CatalogEntry:
        return CatalogEntry(
            id=self.build_uuid(),
            agent_type=agent_type,
            agent_key=agent_type.agent_key,
            display_name=self.build_title(2),
            description=" ".join(self.words.draw(12)),
            categories=self.words.draw(2),
            status=self.random.choices(ENTRY_STATUSES, STATUS_WEIGHTS)[0],
            source=Source.IMPORT,
            latency_ms=self.random.randint(5, 900),
            next_probe_at=FAR_FUTURE,
        )

    def build_capabilities(self, agent_type: AgentType) -> list[Capability]:
        return [
            self.build_capability(agent_type, kind, n)
            for n, kind in enumerate(KINDS_BY_PROTOCOL[agent_type.protocol])
        ]

    def build_capability(self, agent_type: AgentType, kind: str, n: int) -> Capability:
        words = (
            self.words.draw(self.random.randint(8, 24))
            + self.words.draw_fixed_share_words()
        )
        self.random.shuffle(words)
        return Capability(
            id=self.build_uuid(),
            agent_type=agent_type,
            kind=kind,
            # Names are unique within an agent, not across agents.
            name=f"{' '.join(words[:2]).capitalize()} {n}",
            description=" ".join(words[2:]),
            properties=self.build_properties(kind),
        )

    def build_properties(self, kind: str) -> dict:
        if kind == "a2a.skill":
            modes = ["text/plain", "application/json"]
            tags = self.words.draw(3)
            return {"tags": tags, "input_modes": modes, "output_modes": modes[:1]}
        if kind.startswith("mcp."):
            return {"title": self.build_title(2), "input_schema": {"type": "object"}}
        return {"value": True}
