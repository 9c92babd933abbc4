"""How a client connects to an agent: endpoints, credentials and an example to copy."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of an agent and the protocol that it speaks there."""

    address: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Connection:
    """What a client needs in order to call an agent, as human-readable text."""

    endpoints: list[Endpoint] = field(default_factory=list)
    # Each says what a caller must present, e.g. "API key in the header as X-Key".
    credentials: list[str] = field(default_factory=list)
    # An example to copy, its heading, and how to use it.
    snippet: str = ""
    snippet_title: str = ""
    snippet_note: str = ""
    # Why clients cannot connect to the agent at all; "" when they can.
    unavailable_reason: str = ""
