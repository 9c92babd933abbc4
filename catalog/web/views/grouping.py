"""Grouping of search results by capability kind and name."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

VISIBLE_TAG_COUNT = 5

ResultRow = dict[str, Any]


@dataclass(slots=True)
class CapabilityGroup:
    """Search results with the same kind and name, one for each agent."""

    kind: str
    name: str
    rows: list[ResultRow] = field(default_factory=list)
    is_continued: bool = False
    # The number of agents with the capability, if it was counted.
    total: int | None = None
    # Whether further agents may be on other pages, if they were not counted.
    may_be_cut: bool = False

    @property
    def html_id(self) -> str:
        """The ID of the group on the page; the same for every request."""
        key = f"{self.kind}::{self.name}".encode()
        return hashlib.sha256(key).hexdigest()[:16]

    @property
    def agent_count(self) -> str:
        """The number of agents in the group, such as "50 of 1,850 agents"."""
        shown = len(self.rows)
        if self.total is not None and self.total > shown:
            return f"{shown:,} of {self.total:,} agents"
        noun = "agent" if shown == 1 else "agents"
        note = " on this page" if self.may_be_cut else ""
        return f"{shown:,} {noun}{note}"

    @property
    def description(self) -> str:
        return str(self.rows[0]["description"])

    @property
    def all_tags(self) -> list[str]:
        """The tags of the first agent; the page shows only some of them."""
        return self.rows[0]["tags"] or []

    @property
    def tags(self) -> list[str]:
        return self.all_tags[:VISIBLE_TAG_COUNT]

    @property
    def hidden_tag_count(self) -> int:
        return max(0, len(self.all_tags) - VISIBLE_TAG_COUNT)


def group_rows(
    rows: Iterable[ResultRow], previous: ResultRow | None = None
) -> list[CapabilityGroup]:
    """Group rows by kind and name, in order of first appearance.

    The first group is marked as continued if it also contains `previous`, the last row
    of the page before.
    """
    groups: dict[tuple[str, str], CapabilityGroup] = {}
    for row in rows:
        kind, name = row["kind"], row["name"]
        group = groups.setdefault((kind, name), CapabilityGroup(kind, name))
        group.rows.append(row)
    if previous:
        split_group = groups.get((previous["kind"], previous["name"]))
        if split_group is not None:
            split_group.is_continued = next(iter(groups.values())) is split_group
    return list(groups.values())
