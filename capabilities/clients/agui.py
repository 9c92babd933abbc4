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
    declares_nothing,
    has_category,
    has_foreign_transport,
    is_event_matrix,
)

# Responses of an agent that does not serve its capabilities.
NOT_SERVED_STATUSES = {
    httpx2.codes.NOT_FOUND,
    httpx2.codes.METHOD_NOT_ALLOWED,
    httpx2.codes.GONE,
    httpx2.codes.NOT_IMPLEMENTED,
}


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
        if response.status_code in NOT_SERVED_STATUSES:
            return None
        response.raise_for_status()
        return parse_capabilities(response.content)

    def close(self) -> None:
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def parse_capabilities(raw: bytes) -> AgentCapabilities | None:
    """Return the capabilities in any spelling, or None for any other document."""
    try:
        # No size limit: the caller chose this agent and trusts it.
        decoded = decode_json(decode_utf8(raw), Problems())
        document = check_document(decoded, Problems())
    except UnreadableDocument:
        return None
    if is_event_matrix(document) or has_foreign_transport(document):
        return None
    if not has_category(document) and not declares_nothing(document):
        return None
    declaration = read_declaration(document, Problems())
    return AgentCapabilities.model_validate(declaration.document)
