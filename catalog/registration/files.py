"""Importing what lies in files and folders: definitions, and exports of a catalog."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from capabilities.front_matter import heads

from ..ingestion import Outcome
from ..models import Source
from .export import import_line
from .service import register

# What a folder is searched for; Markdown is only looked into.
SUFFIXES = (".json", ".jsonl", ".md", ".toml", ".yaml", ".yml")


class ImportRefused(Exception):
    """Something in a file or folder that cannot be imported, with the reasons."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to import: what to call it, and how to do it."""

    name: str
    run: Callable[[], Outcome]


class FolderReader(Protocol):
    """Reads folders that hold an agent in a layout of their own."""

    # The protocol of the agents that it reads.
    protocol: str

    def folders_in(self, path: Path) -> list[Path]:
        """The folders at or below a path that hold an agent."""

    def items_of(self, folders: list[Path]) -> Iterable[Item]:
        """One item for each of these folders."""

    def owns(self, file: Path, folder: Path) -> bool:
        """Whether a file below such a folder is part of that agent."""


folder_readers: list[FolderReader] = []


def add_folder_reader(reader: FolderReader) -> None:
    """Let folders be read in one more layout; apps call this in `ready`."""
    if not any(type(known) is type(reader) for known in folder_readers):
        folder_readers.append(reader)


def items_in(paths: Iterable[Path], protocol: str = "") -> Iterator[Item]:
    """Everything in these files and folders, folders with their own layout first."""
    paths = list(paths)
    claimed: list[tuple[FolderReader, set[Path]]] = []
    for reader in folder_readers:
        if protocol in ("", reader.protocol):
            found = (folder for path in paths for folder in reader.folders_in(path))
            folders = list(dict.fromkeys(found))
            yield from reader.items_of(folders)
            claimed.append((reader, set(folders)))
    for path in paths:
        for file in files_in(path):
            if not is_claimed(file, claimed):
                yield from file_items(file, protocol)


def is_claimed(file: Path, claimed: list[tuple[FolderReader, set[Path]]]) -> bool:
    """Whether a reader has read this file as part of a folder."""
    return any(
        reader.owns(file, folder)
        for reader, folders in claimed
        for folder in folders.intersection(file.parents)
    )


def file_items(file: Path, protocol: str) -> Iterator[Item]:
    if file.suffix != ".jsonl":
        yield Item(str(file), partial(import_file, file, protocol))
        return
    for n, line in enumerate(file.read_text("utf-8").split("\n"), start=1):
        if line.strip():
            yield Item(f"{file}:{n}", partial(import_line, line))


def import_file(file: Path, protocol: str) -> Outcome:
    return register(file.read_bytes(), protocol, usual=Source.IMPORT)


def files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.suffix in SUFFIXES)
    return sorted(file for file in found if file.is_file() and may_define_agent(file))


def may_define_agent(path: Path) -> bool:
    """Most Markdown in a folder is about something else, and no reason to fail."""
    if path.suffix != ".md":
        return True
    try:
        return heads(path.read_text("utf-8-sig", "replace"), "capabilities")
    except OSError:
        return True
