"""The HTTP requests that check whether an agent is alive."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HealthRequest:
    """One HTTP request of a probe. The agent is alive if it answers successfully."""

    url: str
    method: str = "GET"
    # Sent as JSON.
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    # Send this request only after the previous one was answered with one of these
    # statuses. Empty: always.
    only_after_statuses: tuple[int, ...] = ()
    # The response header with the id of a session that the probe closes afterwards.
    session_header: str = ""
