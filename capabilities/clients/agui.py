"""A client's way to learn what an AG-UI agent, or any entry of ours, can do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx2
from ag_ui.core import AgentCapabilities

from ..documents import checked, decode, decoded
from ..problems import Problems, Unreadable
from ..protocols.agui.addresses import capabilities_url
from ..protocols.agui.declarations import read_declaration
from ..protocols.agui.detection import (
    declares_nothing,
    has_category,
    has_foreign_transport,
    is_event_matrix,
)

# By these an agent says that it declares nothing.
UNDECLARED = {
    httpx2.codes.NOT_FOUND,
    httpx2.codes.METHOD_NOT_ALLOWED,
    httpx2.codes.GONE,
    httpx2.codes.NOT_IMPLEMENTED,
}


@dataclass
class HttpAgent:
    """A remote agent; `capabilities_url` is `{url}/capabilities` unless given."""

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
        """What the agent can do just now; None when it does not say."""
        url = self.capabilities_url or capabilities_url(self.url)
        response = self.http.get(url)
        if response.status_code in UNDECLARED:
            return None
        response.raise_for_status()
        return understood(response.content)

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


def understood(raw: bytes) -> AgentCapabilities | None:
    """The capabilities in these bytes, in any spelling; None when there are none."""
    try:
        # However large: whoever asks an agent chose it.
        document = checked(decode(decoded(raw), Problems()), Problems())
    except Unreadable:
        return None
    if is_event_matrix(document) or has_foreign_transport(document):
        return None
    if not has_category(document) and not declares_nothing(document):
        return None
    declaration = read_declaration(document, Problems())
    return AgentCapabilities.model_validate(declaration.document)
