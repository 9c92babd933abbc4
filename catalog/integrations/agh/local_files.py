"""Import AGH peers from the capability catalogs in agent folders."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from capabilities.protocols.agh import (
    CATALOG_FILES,
    CATALOG_FOLDER,
    AGHCapability,
    CapabilityBrief,
    LocalCatalogError,
    LocalProblem,
    PeerCard,
    has_catalog,
    read_local_catalog,
)

from ...ingestion import IngestResult, ingest
from ...models import Source
from ...registration import ImportFailed, ImportItem
from .directory import PROTOCOL, find_entry
from .inbox import build_card_definition

# What a folder must contain, for messages.
CATALOG_NAMES = f"{', '.join(CATALOG_FILES)} or files in {CATALOG_FOLDER}/"


class LocalCatalogReader:
    """Finds and imports the folders in which AGH agents keep their capabilities."""

    protocol = PROTOCOL

    def find_folders(self, path: Path) -> list[Path]:
        """Return the agent folders at or below a path."""
        is_file = path.name in CATALOG_FILES
        is_capabilities_folder = path.name == CATALOG_FOLDER and has_catalog(
            path.parent
        )
        if is_file or is_capabilities_folder:
            return [path.parent]
        if not path.is_dir():
            return []
        subfolders = sorted(folder for folder in path.rglob("*") if folder.is_dir())
        return [folder for folder in (path, *subfolders) if is_agent_folder(folder)]

    def iter_items(self, folders: list[Path]) -> Iterator[ImportItem]:
        """Yield one item per folder; folders with the same name fail to import."""
        by_peer_id: dict[str, list[Path]] = defaultdict(list)
        for folder in folders:
            by_peer_id[get_peer_id(folder)].append(folder)
        for folders_of_peer in by_peer_id.values():
            for folder in folders_of_peer:
                conflicts = [path for path in folders_of_peer if path != folder]
                yield ImportItem(str(folder), partial(import_folder, folder, conflicts))

    def is_part_of_agent(self, file: Path, folder: Path) -> bool:
        """Return whether a file belongs to the catalog of an agent folder.

        This includes files in the capabilities folder that AGH itself ignores.
        """
        is_catalog_file = file.parent == folder and file.name in CATALOG_FILES
        return is_catalog_file or folder / CATALOG_FOLDER in file.parents


def is_agent_folder(folder: Path) -> bool:
    """Return whether a folder has a catalog, or an emptied one of a known peer."""
    if has_catalog(folder):
        return True
    return (folder / CATALOG_FOLDER).is_dir() and is_imported(folder)


def import_folder(folder: Path, conflicts: Iterable[Path] = ()) -> IngestResult:
    """Import the peer whose local catalog this folder contains.

    `conflicts` are folders with the same name. They would be the same peer, so the
    import fails with ImportFailed, as it does for an invalid or missing catalog.
    """
    if conflicts:
        conflicting_paths = ", ".join(map(str, conflicts))
        message = (
            f"has the same name as {conflicting_paths}; the name is the peer ID, so"
            " rename all but one"
        )
        raise build_import_error(folder, [message])
    try:
        documents = read_local_catalog(folder)
    except LocalCatalogError as error:
        raise ImportFailed(str(error)) from error
    if documents is None:
        message = f"contains no capability catalog: {CATALOG_NAMES}"
        raise build_import_error(folder, [message])
    briefs = [CapabilityBrief(document.id, document.summary) for document in documents]
    card = PeerCard(peer_id=get_peer_id(folder)).with_capabilities(briefs)
    capabilities = [AGHCapability.from_document(document) for document in documents]
    messages = [
        f"{capability.name} {message}"
        for capability in capabilities
        for message in capability.validate()
    ]
    if messages:
        raise build_import_error(folder, messages)
    definition = build_card_definition("", card, capabilities)
    return ingest(replace(definition, source=Source.CONFIG, replaces_capabilities=True))


def build_import_error(folder: Path, messages: list[str]) -> ImportFailed:
    problems = [LocalProblem(folder, "$", message) for message in messages]
    return ImportFailed("\n".join(map(str, problems)))


def get_peer_id(folder: Path) -> str:
    return folder.resolve().name.lower()


def is_imported(folder: Path) -> bool:
    """Return whether a peer with the name of the folder was imported from files."""
    return find_entry("", get_peer_id(folder)) is not None
