"""How a client reaches an agent: what to know, and something ready to copy."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Way:
    """One address, and what is spoken there."""

    address: str
    spoken: str


@dataclass(frozen=True, slots=True)
class Connection:
    """`credentials` tells in words what a caller must present, `snippet` an example.

    `note` says what to do with the snippet, where that is not plain. `remark` is for
    agents that cannot be connected to at all, and says why.
    """

    ways: list[Way] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)
    title: str = ""
    note: str = ""
    snippet: str = ""
    remark: str = ""
