"""What is asked, and how often: the same mix at every size, on every database."""

from dataclasses import dataclass
from random import Random

from .words import COMMON, LETTERS, PAIRS, RARE, SEED, SOME, SPELLINGS

LIMIT = 50


@dataclass(frozen=True, slots=True)
class Ask:
    family: str
    q: str = ""
    kind: str = ""
    sort: str = "name_asc"
    offset: int = 0

    @property
    def parameters(self) -> dict[str, str]:
        given = {"q": self.q, "kind": self.kind, "sort": self.sort}
        return given | {"limit": str(LIMIT), "offset": str(self.offset)}


# In a hundred requests. The search box asks while one types, hence the short ones;
# 7 in a hundred are one letter, so the p95 of the mix is one of the dearest requests.
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
# Those that the goal of fifty times the plain query is about.
SELECTIVE = ["1 %", "0.01 %"]


def asks(capabilities: int) -> list[Ask]:
    """Every question of every family; several of each, so that none is a favourite."""
    texts = {
        "20 %": COMMON,
        "1 %": SOME,
        "0.01 %": RARE,
        "two words": [f"{a} {b}" for a, b in zip(COMMON * 2, SOME, strict=False)],
        "other spelling": SPELLINGS.values(),
        "nothing": [f"{word}ishly" for word in RARE[:5]],
        "two letters, rare": PAIRS,
        "one letter, common": LETTERS,
    }
    found = [Ask(family, q) for family, qs in texts.items() for q in qs]
    found += [
        Ask("everything"),
        Ask("by agent", sort="agentName_asc"),
        Ask("by agent", "document", sort="agentName_asc"),
    ]
    kinds = ["a2a.skill", "mcp.tool", "mcp.resource", "mcp.prompt"]
    found += [Ask("one kind", kind=kind) for kind in kinds]
    # Up to two thirds of all: nearly the last of those that are listed.
    deep = [capabilities * n // 30 for n in range(11, 20)]
    found += [Ask("deep offset", offset=offset) for offset in deep]
    return found


def mix(capabilities: int, count: int) -> list[Ask]:
    random = Random(SEED)  # noqa: S311
    by_family: dict[str, list[Ask]] = {family: [] for family in FAMILIES}
    for ask in asks(capabilities):
        by_family[ask.family].append(ask)
    families = random.choices(FAMILIES, list(WEIGHTS.values()), k=count)
    return [random.choice(by_family[family]) for family in families]
