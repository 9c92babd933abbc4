"""Peers whose capability catalogs lie in files."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from capabilities.protocols.agh import (
    CATALOG_DIRECTORY,
    CATALOG_FILES,
    AGHCapability,
    Brief,
    LocalCatalogError,
    LocalProblem,
    PeerCard,
    holds_catalog,
    read_local_catalog,
)

from ...ingestion import Outcome
from ...models import Source
from ...registration import ImportRefused, Item
from .directory import PROTOCOL, find_entry
from .inbox import catalogue


class LocalCatalogReader:
    """Reads the directories in which AGH agents keep their capabilities."""

    protocol = PROTOCOL

    def folders_in(self, path: Path) -> list[Path]:
        is_file = path.name in CATALOG_FILES
        is_folder = path.name == CATALOG_DIRECTORY and holds_catalog(path.parent)
        if is_file or is_folder:
            return [path.parent]
        if not path.is_dir():
            return []
        below = sorted(folder for folder in path.rglob("*") if folder.is_dir())
        return [folder for folder in (path, *below) if is_catalog(folder)]

    def items_of(self, folders: list[Path]) -> Iterator[Item]:
        """One item each; folders of the same name are refused as they run."""
        by_name: dict[str, list[Path]] = defaultdict(list)
        for folder in folders:
            by_name[peer_id_of(folder)].append(folder)
        for same_name in by_name.values():
            for folder in same_name:
                twins = [twin for twin in same_name if twin != folder]
                yield Item(str(folder), partial(import_local, folder, twins))

    def owns(self, file: Path, folder: Path) -> bool:
        """Its own catalog files, and what AGH passes over in its folder."""
        listed = file.parent == folder and file.name in CATALOG_FILES
        return listed or folder / CATALOG_DIRECTORY in file.parents


def is_catalog(folder: Path) -> bool:
    """Whether it holds a catalog; an emptied one counts if its peer is known."""
    emptied = (folder / CATALOG_DIRECTORY).is_dir() and is_known_from_files(folder)
    return emptied or holds_catalog(folder)


def import_local(directory: Path, twins: Iterable[Path] = ()) -> Outcome:
    """Catalogue the peer whose local catalog this directory holds.

    `twins` are others of the same name: together they would be one peer.
    """
    if twins:
        names = ", ".join(str(twin) for twin in twins)
        raise refusal(directory, f"has the same name as {names}")
    try:
        documents = read_local_catalog(directory)
    except LocalCatalogError as error:
        raise ImportRefused(str(error)) from error
    if documents is None:
        raise refusal(directory, "holds no capability catalog")
    briefs = [Brief(document.id, document.summary) for document in documents]
    card = PeerCard(peer_id=peer_id_of(directory)).offering(briefs)
    fresh = [AGHCapability.holding(document) for document in documents]
    faults = [f"{one.name} {words}" for one in fresh for words in one.validate()]
    if faults:
        raise refusal(directory, *faults)
    return catalogue("", card, fresh, source=Source.CONFIG, complete=True)


def refusal(directory: Path, *messages: str) -> ImportRefused:
    problems = [LocalProblem(directory, "$", message) for message in messages]
    return ImportRefused("\n".join(map(str, problems)))


def peer_id_of(directory: Path) -> str:
    return directory.resolve().name.lower()


def is_known_from_files(directory: Path) -> bool:
    return find_entry("", peer_id_of(directory)) is not None
