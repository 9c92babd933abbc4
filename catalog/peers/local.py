"""Peers whose catalogs lie in files."""

from collections.abc import Iterable
from pathlib import Path

from capabilities.protocols.agh.cards import Brief, PeerCard
from capabilities.protocols.agh.local import (
    LocalCatalogError,
    LocalProblem,
    read_local_catalog,
)
from capabilities.protocols.agh.records import AGHCapability

from ..ingestion import Outcome
from ..models import Source
from .known import find_entry
from .taking import catalogue


def import_local(directory: Path, twins: Iterable[Path] = ()) -> Outcome:
    """Catalogue the peer whose local catalog this directory holds.

    `twins` are others of the same name: together they would be one peer.
    """
    if twins:
        names = ", ".join(str(twin) for twin in twins)
        raise refusal(directory, f"has the same name as {names}")
    documents = read_local_catalog(directory)
    if documents is None:
        raise refusal(directory, "holds no capability catalog")
    briefs = [Brief(document.id, document.summary) for document in documents]
    card = PeerCard(peer_id=peer_id_of(directory)).offering(briefs)
    fresh = [AGHCapability.holding(document) for document in documents]
    faults = [f"{one.name} {words}" for one in fresh for words in one.validate()]
    if faults:
        raise LocalCatalogError([LocalProblem(directory, "$", one) for one in faults])
    return catalogue("", card, fresh, source=Source.CONFIG, complete=True)


def refusal(directory: Path, message: str) -> LocalCatalogError:
    return LocalCatalogError([LocalProblem(directory, "$", message)])


def peer_id_of(directory: Path) -> str:
    return directory.resolve().name.lower()


def is_known_from_files(directory: Path) -> bool:
    return find_entry("", peer_id_of(directory)) is not None
