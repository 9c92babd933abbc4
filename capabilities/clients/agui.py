"""A client that reads the capabilities of an AG-UI agent or of a catalog entry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx2
from ag_ui.core import AgentCapabilities

from ..documents import check_document, decode_json, decode_utf8
from ..problems import Problems, UnreadableDocument
from ..protocols.agui.addresses import build_capabilities_url
from ..protocols.agui.declarations import read_declaration
from ..protocols.agui.detection import (
    has_category,
    has_other_protocol_transport,
    is_empty_declaration,
    is_event_matrix,
)
from ..protocols.agui.parser import NOT_SERVED_STATUSES

# An agent that answers 405 does not serve its capabilities either. The statuses for
# probes do not include it, because 405 is enough to show that an agent is alive.
NO_CAPABILITIES_STATUSES = (*NOT_SERVED_STATUSES, httpx2.codes.METHOD_NOT_ALLOWED)


@dataclass
class HttpAgent:
    """A remote agent. `capabilities_url` defaults to `{url}/capabilities`."""

    url: str
    headers: Mapping[str, str] | None = None
    capabilities_url: str | None = None
    timeout: float = 10.0
    http: httpx2.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.http = httpx2.Client(
            headers={"Accept": "application/json", **(self.headers or {})},
            timeout=self.timeout,
            follow_redirects=True,
        )

    def get_capabilities(self) -> AgentCapabilities | None:
        """Fetch the agent's capabilities. Return None if it does not declare any."""
        url = self.capabilities_url or build_capabilities_url(self.url)
        response = self.http.get(url)
        if response.status_code in NO_CAPABILITIES_STATUSES:
            return None
        response.raise_for_status()
        return parse_capabilities(response.content)

    def close(self) -> None:
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def parse_capabilities(raw: bytes) -> AgentCapabilities | None:
    """Parse AgentCapabilities in any spelling; return None for other documents."""
    try:
        # No size limit: the caller chose this agent and trusts it.
        decoded = decode_json(decode_utf8(raw), Problems())
        document = check_document(decoded, Problems())
    except UnreadableDocument:
        return None
    if is_event_matrix(document) or has_other_protocol_transport(document):
        return None
    if not has_category(document) and not is_empty_declaration(document):
        return None
    declaration = read_declaration(document, Problems())
    return AgentCapabilities.model_validate(declaration.document)
