"""From the flat list to what people look at: one group per kind and name."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

TAGS_SHOWN = 5

Item = dict[str, Any]


@dataclass(slots=True)
class Group:
    """All loaded offers of what goes by one name; not one capability for all that."""

    kind: str
    name: str
    offers: list[Item] = field(default_factory=list)
    continued: bool = False

    @property
    def slug(self) -> str:
        key = f"{self.kind}::{self.name}".encode()
        return hashlib.sha256(key).hexdigest()[:16]

    @property
    def description(self) -> str:
        return self.offers[0]["description"]

    @property
    def tags(self) -> list[str]:
        return (self.offers[0]["tags"] or [])[:TAGS_SHOWN]

    @property
    def more_tags(self) -> int:
        return max(0, len(self.offers[0]["tags"] or []) - TAGS_SHOWN)


def grouped(items: Iterable[Item], before: Item | None = None) -> list[Group]:
    """Groups in the order of first appearance; `before` stood just ahead of them."""
    groups: dict[tuple[str, str], Group] = {}
    for item in items:
        key = item["kind"], item["name"]
        groups.setdefault(key, Group(*key)).offers.append(item)
    if before and (split := groups.get((before["kind"], before["name"]))):
        split.continued = next(iter(groups.values())) is split
    return list(groups.values())
