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
    # After a failed request, send this one and those after it only if the response had
    # one of these statuses. Empty: after any failure. The first request is always sent.
    only_after_statuses: tuple[int, ...] = ()
    # The response header with the ID of a session that the probe closes afterwards.
    session_header: str = ""
