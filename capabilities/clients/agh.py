"""An AGH peer's way to use AgentLens as a directory."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx2

from ..problems import Document
from ..protocols.agh.bodies import greet_body, request_body, transfer_body
from ..protocols.agh.cards import PeerCard
from ..protocols.agh.catalogs import CatalogRequest
from ..protocols.agh.documents import CapabilityDocument
from ..protocols.agh.envelopes import Envelope, Heading, MessageKind, emit


class EnvelopeRefused(Exception):
    """The directory did not take it; `reason_code` is AGH's own, if it gave one."""

    def __init__(self, status: int, error: Any) -> None:
        told = error if isinstance(error, dict) else {}
        details = told.get("details")
        super().__init__(told.get("error") or f"HTTP {status}")
        self.status = status
        self.reason_code = details.get("reason_code", "") if details else ""


@dataclass
class AGHClient:
    """Speaks for one peer in one channel; `url` is where AgentLens is."""

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
        """Say who this peer is, and that it lives; every thirty seconds."""
        self.send(MessageKind.GREET, greet_body(card, summary))

    def whois(
        self,
        query: str = "",
        to: str = "",
        ids: Iterable[str] | None = None,
        *,
        documents: bool = True,
    ) -> list[Envelope]:
        """Cards, and full documents of what is asked for; from all, or from one."""
        asked = None if ids is None else frozenset(ids)
        ext = CatalogRequest(wanted=documents, ids=asked).to_ext()
        return self.send(MessageKind.WHOIS, request_body(query), to, ext)

    def transfer(
        self, document: CapabilityDocument, ext: Document | None = None
    ) -> None:
        """Hand a capability over, bound by its digest."""
        self.send(MessageKind.CAPABILITY, transfer_body(document), ext=ext)

    def fetch(self, peer_id: str, capability_id: str) -> Envelope:
        """The transfer of a capability that a peer of the channel offers."""
        if capability_id in (".", ".."):
            raise ValueError("No address can name a capability of dots alone")
        place = f"/peers/{quote(peer_id)}/capabilities/{quote(capability_id, safe='')}"
        return received(
            self.answer(self.http.get(place, params={"channel": self.channel}))
        )

    def relay(self, envelope: Envelope) -> list[Envelope]:
        """Pass on what another peer sent, exactly as it came."""
        return self.post(envelope.relayed())

    def send(
        self,
        kind: MessageKind,
        body: Document,
        to: str = "",
        ext: Document | None = None,
    ) -> list[Envelope]:
        heading = Heading(channel=self.channel, sender=self.peer_id, to=to)
        return self.post(emit(kind, heading, body, int(time.time()), ext).raw)

    def post(self, envelope: Document) -> list[Envelope]:
        told = self.answer(self.http.post("/envelopes", json=envelope))
        return [received(each) for each in told["envelopes"]]

    def answer(self, response: httpx2.Response) -> Document:
        try:
            body: Any = response.json()
        except ValueError:
            body = None
        if response.status_code != httpx2.codes.OK or not isinstance(body, dict):
            raise EnvelopeRefused(response.status_code, body)
        return body

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.http.close()


def received(raw: Document) -> Envelope:
    return Envelope.parse(raw, int(time.time()))
