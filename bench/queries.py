"""The queries and their weights, the same for every size and every database."""

from dataclasses import dataclass
from random import Random

from .words import COMMON, LETTERS, OTHER_SPELLINGS, PAIRS, RARE, SEED, UNCOMMON

LIMIT = 50


@dataclass(frozen=True, slots=True)
class BenchQuery:
    family: str
    q: str = ""
    kind: str = ""
    sort: str = "name_asc"
    offset: int = 0

    @property
    def parameters(self) -> dict[str, str]:
        filters = {"q": self.q, "kind": self.kind, "sort": self.sort}
        return filters | {"limit": str(LIMIT), "offset": str(self.offset)}


# Requests per hundred. The page searches while people type, so there are short queries.
# With 7 % of one letter, the p95 of all requests is one of the most expensive ones.
WEIGHTS = {
    "everything": 12,
    "one kind": 10,
    "by agent": 6,
    "deep offset": 3,
    "20 %": 14,
    "1 %": 20,
    "0.01 %": 14,
    "two words": 5,
    "other spelling": 2,
    "nothing": 2,
    "two letters, rare": 5,
    "one letter, common": 7,
}
FAMILIES = list(WEIGHTS)
# The goal of fifty times the speed of the naive query applies to these.
SELECTIVE = ["1 %", "0.01 %"]


def build_queries(capability_count: int) -> list[BenchQuery]:
    """Return several queries of every family, so that caching one does not matter."""
    texts_by_family = {
        "20 %": COMMON,
        "1 %": UNCOMMON,
        "0.01 %": RARE,
        "two words": [
            f"{common} {uncommon}"
            for common, uncommon in zip(COMMON * 2, UNCOMMON, strict=False)
        ],
        "other spelling": OTHER_SPELLINGS.values(),
        "nothing": [f"{word}ishly" for word in RARE[:5]],
        "two letters, rare": PAIRS,
        "one letter, common": LETTERS,
    }
    queries = [
        BenchQuery(family, text)
        for family, texts in texts_by_family.items()
        for text in texts
    ]
    queries += [
        BenchQuery("everything"),
        BenchQuery("by agent", sort="agentName_asc"),
        BenchQuery("by agent", "document", sort="agentName_asc"),
    ]
    kinds = ["a2a.skill", "mcp.tool", "mcp.resource", "mcp.prompt"]
    queries += [BenchQuery("one kind", kind=kind) for kind in kinds]
    # Up to two thirds of all capabilities, which is near the end of the list.
    offsets = [capability_count * n // 30 for n in range(11, 20)]
    queries += [BenchQuery("deep offset", offset=offset) for offset in offsets]
    return queries


def draw_queries(capability_count: int, count: int) -> list[BenchQuery]:
    random = Random(SEED)  # noqa: S311
    by_family: dict[str, list[BenchQuery]] = {family: [] for family in FAMILIES}
    for query in build_queries(capability_count):
        by_family[query.family].append(query)
    families = random.choices(FAMILIES, list(WEIGHTS.values()), k=count)
    return [random.choice(by_family[family]) for family in families]
