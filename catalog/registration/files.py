"""Import definitions and catalog exports from files and folders."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from capabilities.front_matter import has_word_in_front_matter

from ..ingestion import IngestResult
from ..models import Source
from .export import import_line
from .service import register

# Suffixes of the files to import from a folder. Of the Markdown files, only those that
# may define an agent are imported.
SUFFIXES = (".json", ".jsonl", ".md", ".toml", ".yaml", ".yml")


class ImportFailed(Exception):
    """A file or folder cannot be imported; the message lists the reasons."""


@dataclass(frozen=True, slots=True)
class ImportItem:
    """A definition or entry to import: its name for messages and what imports it."""

    name: str
    run: Callable[[], IngestResult]


class FolderReader(Protocol):
    """Reads folders with a protocol-specific layout."""

    # The protocol of the agents in these folders.
    protocol: str

    def find_folders(self, path: Path) -> list[Path]:
        """Return the folders at or below a path that define an agent."""

    def iter_items(self, folders: list[Path]) -> Iterable[ImportItem]:
        """Yield one item for each of these folders."""

    def is_part_of_agent(self, file: Path, folder: Path) -> bool:
        """Return whether a file below such a folder is part of its agent."""


folder_readers: list[FolderReader] = []


def add_folder_reader(reader: FolderReader) -> None:
    """Register a folder reader; apps call this in `ready()`."""
    if not any(type(existing) is type(reader) for existing in folder_readers):
        folder_readers.append(reader)


def iter_import_items(
    paths: Iterable[Path], protocol: str = ""
) -> Iterator[ImportItem]:
    """Yield what to import from files and folders, protocol-specific folders first."""
    paths = list(paths)
    folders_by_reader: list[tuple[FolderReader, set[Path]]] = []
    for reader in folder_readers:
        if protocol in ("", reader.protocol):
            found = (folder for path in paths for folder in reader.find_folders(path))
            folders = list(dict.fromkeys(found))
            yield from reader.iter_items(folders)
            folders_by_reader.append((reader, set(folders)))
    for path in paths:
        for file in find_files(path):
            if not is_in_read_folder(file, folders_by_reader):
                yield from iter_file_items(file, protocol)


def is_in_read_folder(
    file: Path, folders_by_reader: list[tuple[FolderReader, set[Path]]]
) -> bool:
    """Return whether a file is part of an agent that a folder reader imports."""
    return any(
        reader.is_part_of_agent(file, folder)
        for reader, folders in folders_by_reader
        for folder in folders.intersection(file.parents)
    )


def iter_file_items(file: Path, protocol: str) -> Iterator[ImportItem]:
    if file.suffix != ".jsonl":
        yield ImportItem(str(file), partial(import_file, file, protocol))
        return
    for n, line in enumerate(file.read_text("utf-8").split("\n"), start=1):
        if line.strip():
            yield ImportItem(f"{file}:{n}", partial(import_line, line))


def import_file(file: Path, protocol: str) -> IngestResult:
    return register(file.read_bytes(), protocol, default_source=Source.IMPORT)


def find_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = (file for file in path.rglob("*") if file.suffix in SUFFIXES)
    return sorted(file for file in files if file.is_file() and can_define_agent(file))


def can_define_agent(path: Path) -> bool:
    """Return whether a file may hold a definition: most Markdown files do not."""
    if path.suffix != ".md":
        return True
    try:
        return has_word_in_front_matter(
            path.read_text("utf-8-sig", "replace"), "capabilities"
        )
    except OSError:
        return True
