"""A client for AGH peers that use AgentLens as their directory."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx2

from ..problems import Document
from ..protocols.agh.bodies import (
    build_greet_body,
    build_transfer_body,
    build_whois_request_body,
)
from ..protocols.agh.cards import PeerCard
from ..protocols.agh.catalogs import CatalogRequest
from ..protocols.agh.documents import CapabilityDocument
from ..protocols.agh.envelopes import (
    Envelope,
    EnvelopeHeader,
    MessageKind,
    build_envelope,
)


class AGHRequestError(Exception):
    """The directory rejected a request. `reason_code` is AGH's reason code, or ''."""

    def __init__(self, status: int, body: Any) -> None:
        error = body if isinstance(body, dict) else {}
        details = error.get("details")
        super().__init__(error.get("error") or f"HTTP {status}")
        self.status = status
        self.reason_code = details.get("reason_code", "") if details else ""


@dataclass
class AGHClient:
    """Sends envelopes of one peer in one channel; `url` is AgentLens' base URL."""

    url: str
    token: str
    peer_id: str
    channel: str
    timeout: float = 10.0
    http: httpx2.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.http = httpx2.Client(
            base_url=f"{self.url.rstrip('/')}/api/v1/agh",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=self.timeout,
        )

    def greet(self, card: PeerCard, summary: str = "") -> None:
        """Announce this peer; call this again every 30 seconds to stay present."""
        self.send(MessageKind.GREET, build_greet_body(card, summary))

    def whois(
        self,
        query: str = "",
        to: str = "",
        ids: Iterable[str] | None = None,
        *,
        documents: bool = True,
    ) -> list[Envelope]:
        """Request peer cards and capability documents, from all peers or only one.

        `ids` limits the documents to these capabilities.
        """
        selected = None if ids is None else frozenset(ids)
        request = CatalogRequest(include_documents=documents, ids=selected)
        body = build_whois_request_body(query)
        return self.send(MessageKind.WHOIS, body, to, request.to_ext())

    def transfer(
        self, document: CapabilityDocument, ext: Document | None = None
    ) -> None:
        """Publish a capability document together with its digest."""
        self.send(MessageKind.CAPABILITY, build_transfer_body(document), ext=ext)

    def fetch(self, peer_id: str, capability_id: str) -> Envelope:
        """Fetch the transfer envelope of a capability that another peer offers."""
        if capability_id in (".", ".."):
            message = "capability_id must not be '.' or '..': a URL cannot contain it"
            raise ValueError(message)
        path = f"/peers/{quote(peer_id)}/capabilities/{quote(capability_id, safe='')}"
        response = self.http.get(path, params={"channel": self.channel})
        return parse_envelope(self.read_response(response))

    def relay(self, envelope: Envelope) -> list[Envelope]:
        """Pass on another peer's envelope exactly as it was received."""
        return self.post(envelope.to_wire())

    def send(
        self,
        kind: MessageKind,
        body: Document,
        to: str = "",
        ext: Document | None = None,
    ) -> list[Envelope]:
        """Build an envelope, post it and return the envelopes of the response.

        Raise EnvelopeError if the envelope is invalid, before anything is sent.
        """
        header = EnvelopeHeader(channel=self.channel, sender=self.peer_id, to=to)
        return self.post(build_envelope(kind, header, body, int(time.time()), ext).raw)

    def post(self, envelope: Document) -> list[Envelope]:
        body = self.read_response(self.http.post("/envelopes", json=envelope))
        return [parse_envelope(raw) for raw in body["envelopes"]]

    def read_response(self, response: httpx2.Response) -> Document:
        """Return the JSON object of a response; raises AGHRequestError on failure."""
        try:
            body: Any = response.json()
        except ValueError:
            body = None
        if response.status_code != httpx2.codes.OK or not isinstance(body, dict):
            raise AGHRequestError(response.status_code, body)
        return body

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.http.close()


def parse_envelope(raw: Document) -> Envelope:
    return Envelope.parse(raw, int(time.time()))
