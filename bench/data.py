"""A catalog of any size, the same every time, in the product's own tables."""

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

PER_AGENT = 10
CHUNK = 500
# Of a hundred entries, 72 can be reached.
STATUSES = [Status.ACTIVE, Status.DEGRADED, Status.OFFLINE, Status.UNKNOWN]
STATUS_SHARES = [62, 10, 20, 8]
SHAPES = {
    "a2a": ["a2a.skill"] * 8 + ["a2a.interface", "agent.feature"],
    "mcp": ["mcp.tool"] * 7 + ["mcp.resource"] * 2 + ["mcp.prompt"],
}
# Nobody shall probe what does not exist.
NEVER = datetime(2100, 1, 1, tzinfo=UTC)


def build(capabilities: int, maker: "Maker") -> None:
    """Fill an empty database, and have the product index it."""
    agents = capabilities // PER_AGENT
    Provider.objects.bulk_create(maker.providers)
    for start in range(0, agents, CHUNK):
        maker.write(range(start, min(start + CHUNK, agents)))
    with transaction.atomic():
        index_entries(CatalogEntry.objects.all())
    settle()


def settle() -> None:
    """What autovacuum would do a minute later."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


class Maker:
    def __init__(self) -> None:
        # Not for secrets, but for the same catalog every time.
        self.random = Random(SEED)  # noqa: S311
        self.words = Words(self.random)
        self.providers = [
            Provider(id=self.uuid(), organization=f"{self.title(2)} {n}", url=url)
            for n, url in enumerate(["", "https://provider.invalid"] * 50)
        ]

    def uuid(self) -> UUID:
        return UUID(int=self.random.getrandbits(128), version=4)

    def title(self, count: int) -> str:
        return " ".join(self.words.draw(count)).title()

    @transaction.atomic
    def write(self, numbers: range) -> None:
        agent_types = [self.agent_type(n) for n in numbers]
        capabilities = [row for a in agent_types for row in self.capabilities(a)]
        AgentType.objects.bulk_create(agent_types)
        CatalogEntry.objects.bulk_create(map(self.entry, agent_types))
        Capability.objects.bulk_create(capabilities)

    def agent_type(self, n: int) -> AgentType:
        protocol = self.random.choices(["a2a", "mcp"], [6, 4])[0]
        endpoint = f"https://agent-{n}.invalid/{protocol}"
        return AgentType(
            id=self.uuid(),
            agent_key=compute_agent_key(protocol, endpoint),
            protocol=protocol,
            endpoint=endpoint,
            version="1.0.0",
            spec_version="0.3.0",
            provider=self.random.choice([None, *self.providers]),
            raw_definition=orjson.dumps({"url": endpoint, "about": self.title(60)}),
        )

    def entry(self, agent_type: AgentType) -> CatalogEntry:
        return CatalogEntry(
            id=self.uuid(),
            agent_type=agent_type,
            agent_key=agent_type.agent_key,
            display_name=self.title(2),
            description=" ".join(self.words.draw(12)),
            categories=self.words.draw(2),
            status=self.random.choices(STATUSES, STATUS_SHARES)[0],
            source=Source.IMPORT,
            latency_ms=self.random.randint(5, 900),
            next_probe_at=NEVER,
        )

    def capabilities(self, agent_type: AgentType) -> list[Capability]:
        return [
            self.capability(agent_type, kind, n)
            for n, kind in enumerate(SHAPES[agent_type.protocol])
        ]

    def capability(self, agent_type: AgentType, kind: str, n: int) -> Capability:
        words = self.words.draw(self.random.randint(8, 24)) + self.words.known()
        self.random.shuffle(words)
        return Capability(
            id=self.uuid(),
            agent_type=agent_type,
            kind=kind,
            # An agent has each name once; other agents may have it too.
            name=f"{' '.join(words[:2]).capitalize()} {n}",
            description=" ".join(words[2:]),
            properties=self.properties(kind),
        )

    def properties(self, kind: str) -> dict:
        if kind == "a2a.skill":
            modes = ["text/plain", "application/json"]
            tags = self.words.draw(3)
            return {"tags": tags, "input_modes": modes, "output_modes": modes[:1]}
        if kind.startswith("mcp."):
            return {"title": self.title(2), "input_schema": {"type": "object"}}
        return {"value": True}
