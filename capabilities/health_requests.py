"""How to ask an agent whether it lives, in its protocol's own words."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Ask:
    """One HTTP request whose mere answer tells; the body is JSON.

    Asked only where the one before was answered with a status of `after`, if it names
    any. `session` is the header of an answer that opens one, which is then closed.
    """

    url: str
    method: str = "GET"
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    after: tuple[int, ...] = ()
    session: str = ""
