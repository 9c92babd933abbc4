"""What lies in files and folders: definitions, exports, agents' local catalogs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from capabilities.front_matter import heads
from capabilities.protocols.agh.local import DIRECTORY, FILES, holds_catalog

from ..ingestion import Outcome
from ..models import Source
from ..peers import import_local, is_known_from_files
from .export import import_line
from .service import register

# What a folder is searched for; Markdown is only looked into.
SUFFIXES = (".json", ".jsonl", ".md", ".toml", ".yaml", ".yml")
AGH = "agh"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to import: what to call it, and how to do it."""

    name: str
    run: Callable[[], Outcome]


def items_in(paths: Iterable[Path], protocol: str = "") -> Iterator[Item]:
    """Everything in these files and folders, agents with a catalog first."""
    paths = list(paths)
    catalogs: list[Path] = []
    if protocol in ("", AGH):
        found = (folder for path in paths for folder in catalogs_in(path))
        catalogs = list(dict.fromkeys(found))
    yield from catalog_items(catalogs)
    known = set(catalogs)
    for path in paths:
        for file in files_in(path):
            above = known.intersection(file.parents)
            if not any(is_part_of(file, catalog) for catalog in above):
                yield from file_items(file, protocol)


def catalog_items(catalogs: list[Path]) -> Iterator[Item]:
    """Those of one name would be one peer."""
    by_name: dict[str, list[Path]] = defaultdict(list)
    for catalog in catalogs:
        by_name[catalog.resolve().name.lower()].append(catalog)
    for alike in by_name.values():
        for catalog in alike:
            twins = [twin for twin in alike if twin != catalog]
            yield Item(str(catalog), partial(import_local, catalog, twins))


def file_items(file: Path, protocol: str) -> Iterator[Item]:
    if file.suffix != ".jsonl":
        yield Item(str(file), partial(import_file, file, protocol))
        return
    for n, line in enumerate(file.read_text("utf-8").split("\n"), start=1):
        if line.strip():
            yield Item(f"{file}:{n}", partial(import_line, line))


def import_file(file: Path, protocol: str) -> Outcome:
    return register(file.read_bytes(), protocol, usual=Source.IMPORT)


def catalogs_in(path: Path) -> list[Path]:
    """Directories of agents whose AGH capabilities lie in files."""
    if path.name in FILES or (path.name == DIRECTORY and holds_catalog(path.parent)):
        return [path.parent]
    if not path.is_dir():
        return []
    within = sorted(one for one in path.rglob("*") if one.is_dir())
    return [one for one in (path, *within) if is_catalog(one)]


def is_catalog(folder: Path) -> bool:
    """Emptied, it is still that of a peer that we know from there."""
    emptied = (folder / DIRECTORY).is_dir() and is_known_from_files(folder)
    return emptied or holds_catalog(folder)


def files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (one for one in path.rglob("*") if one.suffix in SUFFIXES)
    return sorted(one for one in found if one.is_file() and may_define_an_agent(one))


def is_part_of(file: Path, catalog: Path) -> bool:
    """A catalog's own, or what AGH passes over in its folder."""
    listed = file.parent == catalog and file.name in FILES
    return listed or catalog / DIRECTORY in file.parents


def may_define_an_agent(path: Path) -> bool:
    """Most Markdown in a folder is about something else, and no reason to fail."""
    if path.suffix != ".md":
        return True
    try:
        return heads(path.read_text("utf-8-sig", "replace"), "capabilities")
    except OSError:
        return True
