"""The HTTP requests that check whether an agent is alive, and what they expect."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HTML_TYPES = ("text/html", "application/xhtml+xml")
HTML_STARTS = (b"<!doctype html", b"<html")
EVENT_STREAM_TYPE = "text/event-stream"


@dataclass(frozen=True, slots=True)
class HealthResponse:
    """A response to a health request, as far as it was read."""

    status: int
    # In lower case and without parameters; "" if the response has none.
    content_type: str = ""
    # Without compression. Of an event stream, only the data of the first event.
    body: bytes = b""
    # The name of the first event of an event stream.
    event: str = ""

    @property
    def is_html(self) -> bool:
        start = self.body[:100].lstrip().lower()
        return self.content_type in HTML_TYPES or start.startswith(HTML_STARTS)

    def read_json(self) -> Any:
        """Return the JSON value of the body; raise ValueError if there is none."""
        try:
            return json.loads(self.body)
        except RecursionError as error:
            raise ValueError("is nested too deeply") from error

    def describe(self, expected: str) -> str:
        """Return what the response contains instead of what was expected."""
        if self.content_type == EVENT_STREAM_TYPE and not self.body:
            return "an event stream that ends without an event"
        if not self.body.strip():
            return "an empty body"
        if self.is_html:
            return "HTML"
        try:
            self.read_json()
        except ValueError:
            return f"a body that is not {expected}"
        return f"JSON that is not {expected}"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a response must contain to show that it is from the agent.

    Without an expectation, every 2xx response does.
    """

    # Returns what the response contains instead, like "HTML", or "" if it is right.
    find_mismatch: Callable[[HealthResponse], str]
    # The statuses, other than 2xx, of responses that are checked in the same way.
    statuses: tuple[int, ...] = ()
    # Otherwise `find_mismatch` gets an empty body.
    needs_body: bool = True


@dataclass(frozen=True, slots=True)
class HealthRequest:
    """One HTTP request of a probe. The agent is alive if it answers successfully."""

    url: str
    method: str = "GET"
    # Sent as JSON.
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    # Send this request after a failed one only if the response to that had one of these
    # statuses. Empty: after any failure. The first request is always sent.
    only_after_statuses: tuple[int, ...] = ()
    expectation: Expectation | None = None
    # Identifies this request among those of its protocol. After a success, the catalog
    # remembers it for the agent and sends this request first in the next probe.
    probe_method: str = ""
