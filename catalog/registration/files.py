"""Import definitions and catalog exports from files and folders."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from capabilities.front_matter import has_front_matter, has_word_in_front_matter

from ..ingestion import IngestResult
from ..models import Source
from .export import import_line
from .service import register

# Suffixes of the files to import from a folder. Of the Markdown files, only those that
# may define an agent are imported.
SUFFIXES = (".json", ".jsonl", ".md", ".toml", ".yaml", ".yml")
# Folders without definitions of their own, which may hold very many files.
SKIPPED_FOLDERS = {".git", "node_modules"}


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


@dataclass(frozen=True, slots=True)
class SkippedPath:
    """A file or folder inside a folder that is not imported, and why."""

    path: Path
    reason: str


@dataclass
class ImportPlan:
    """What to import from files and folders, and what is skipped."""

    items: list[ImportItem] = field(default_factory=list)
    skipped: list[SkippedPath] = field(default_factory=list)

    def add_file(self, file: Path, protocol: str) -> None:
        self.items += iter_file_items(file, protocol)

    def skip(self, path: Path, reason: str) -> None:
        self.skipped.append(SkippedPath(path, reason))


def plan_import(paths: Iterable[Path], protocol: str = "") -> ImportPlan:
    """Return what to import, protocol-specific folders first.

    Files that are given themselves are always imported; files in folders only if they
    may define an agent.
    """
    paths, plan = list(paths), ImportPlan()
    folders_by_reader: list[tuple[FolderReader, set[Path]]] = []
    for reader in folder_readers:
        if protocol in ("", reader.protocol):
            found = (folder for path in paths for folder in reader.find_folders(path))
            folders = list(dict.fromkeys(found))
            plan.items += reader.iter_items(folders)
            folders_by_reader.append((reader, set(folders)))
    for path in paths:
        files = walk_folder(path, plan) if path.is_dir() else [path]
        for file in files:
            if is_in_read_folder(file, folders_by_reader):
                continue
            if file != path and (reason := find_skip_reason(file)):
                plan.skip(file, reason)
            else:
                plan.add_file(file, protocol)
    return plan


def walk_folder(folder: Path, plan: ImportPlan) -> list[Path]:
    """Return the files at any depth, sorted; add skipped folders to the plan."""

    def skip_unreadable(error: OSError) -> None:
        plan.skip(Path(error.filename), f"cannot be read: {error.strerror}")

    files: list[Path] = []
    for root, folder_names, names in os.walk(folder, onerror=skip_unreadable):
        for name in sorted(SKIPPED_FOLDERS.intersection(folder_names)):
            folder_names.remove(name)
            plan.skip(Path(root, name), f"{name} folders are not searched")
        files += [Path(root, name) for name in names]
    return sorted(files)


def find_skip_reason(file: Path) -> str:
    """Return why a file in a folder cannot define an agent, or ""."""
    if file.suffix not in SUFFIXES:
        return f"only files with the suffix {', '.join(SUFFIXES)} are imported"
    if not file.is_file():
        return "not a file, or a broken link"
    return find_markdown_skip_reason(file) if file.suffix == ".md" else ""


def find_markdown_skip_reason(file: Path) -> str:
    """Return why a Markdown file cannot define an agent, or ""."""
    try:
        text = file.read_text("utf-8-sig", "replace")
    except OSError:
        return ""  # The import reports the error.
    if not has_front_matter(text):
        return "Markdown without front matter"
    if not has_word_in_front_matter(text, "capabilities"):
        return "Markdown whose front matter has no `capabilities`"
    return ""


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
    """Yield the definition in a file, or each line of an export."""
    lines = read_export_lines(file) if file.suffix == ".jsonl" else None
    if lines is None:
        yield ImportItem(str(file), partial(import_file, file, protocol))
        return
    for n, line in enumerate(lines, start=1):
        if line.strip():
            yield ImportItem(f"{file}:{n}", partial(import_line, line))


def read_export_lines(file: Path) -> list[str] | None:
    """Return the lines of an export, or None if the file cannot be read as text."""
    try:
        return file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None  # Importing it as a definition reports the error.


def import_file(file: Path, protocol: str) -> IngestResult:
    return register(file.read_bytes(), protocol, default_source=Source.IMPORT)
