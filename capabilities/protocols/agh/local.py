"""Local catalogs: the files in an agent's directory that say what it offers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ...documents import BYTES_LIMIT, bounded, checked, decoded, read_json
from ...front_matter.toml_text import read_toml
from ...problems import Document, Problems, Unreadable, member
from .documents import HASHED, CapabilityDocument
from .identifiers import trimmed

CATALOG_FILES = ("capabilities.toml", "capabilities.json")
CATALOG_DIRECTORY = "capabilities"
FORMATS = (".toml", ".json")
MIXED = "mixed capability catalog layouts"
MULTIPLE = "multiple capability catalog files"


@dataclass(frozen=True, slots=True)
class LocalProblem:
    """What is wrong in which file, and where in it."""

    file: Path
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.path} {self.message}"


class LocalCatalogError(Exception):
    """A catalog that AGH would not load, with every reason why."""

    def __init__(self, problems: list[LocalProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Authored:
    """A document as somebody wrote it, and where."""

    file: Path
    path: str
    document: CapabilityDocument


class LocalCatalog:
    """Reading one agent's directory; problems gather until the end."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.problems: list[LocalProblem] = []

    def documents(self) -> list[CapabilityDocument] | None:
        """The catalog in its order, None when there is none at all."""
        catalog = self.layout()
        self.refuse_any()
        if catalog is None:
            return None
        is_folder = catalog.name == CATALOG_DIRECTORY
        authored = list(self.single(catalog) if is_folder else self.listed(catalog))
        self.refuse_any()
        self.refuse_duplicates(authored)
        return [each.document for each in authored]

    def refuse_any(self) -> None:
        if self.problems:
            raise LocalCatalogError(self.problems)

    def error(self, file: Path, message: str, path: str = "$") -> None:
        self.problems.append(LocalProblem(file, path, message))

    def layout(self) -> Path | None:
        """The catalog file or the folder, of which there may be only one."""
        places = (self.directory / name for name in (*CATALOG_FILES, CATALOG_DIRECTORY))
        found = [place for place in places if self.exists(place)]
        if len(found) > 1:
            is_mixed = found[-1].name == CATALOG_DIRECTORY
            what = MIXED if is_mixed else MULTIPLE
            self.error(self.directory, f"{what}: {in_words(found)}")
        return found[0] if found else None

    def exists(self, path: Path) -> bool:
        """Whether it is there, and is what its name says; links are not followed."""
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return False
        if path.name == CATALOG_DIRECTORY and not S_ISDIR(mode):
            self.error(path, "must be a directory, not a symlink or a file")
        elif path.name != CATALOG_DIRECTORY and not S_ISREG(mode):
            self.error(path, "must be a file, not a symlink or a directory")
        return True

    def listed(self, file: Path) -> Iterator[Authored]:
        """The documents of a single file."""
        content = self.content(file)
        if content is None:
            return
        problems = Problems()
        refuse_unknown(content, ("capabilities",), problems, "$")
        for path, stated in problems.objects(content, "capabilities"):
            yield Authored(file, path, read_authored(stated, problems, path))
        self.tell(file, problems)

    def single(self, folder: Path) -> Iterator[Authored]:
        """The documents of a folder, one in each file that bears its id."""
        files = self.files(folder)
        if len({file.suffix for file in files}) > 1:
            names = in_words(files)
            self.error(folder, f"mixed capability file formats: {names}")
            return
        for file in files:
            if (content := self.content(file)) is not None:
                yield Authored(file, "$", self.record(file, content))

    def files(self, folder: Path) -> list[Path]:
        try:
            return sorted(catalog_files(folder))
        except OSError as error:
            self.error(folder, f"cannot be read: {error.strerror}")
            return []

    def record(self, file: Path, content: Document) -> CapabilityDocument:
        problems = Problems()
        document = read_authored(content, problems, "$")
        if document.id and document.id != trimmed(file.stem):
            problems.error("$.id", f"{document.id!r} must be the name of its file")
        self.tell(file, problems)
        return document

    def content(self, file: Path) -> Document | None:
        """What a file says, None when nobody can read it."""
        problems = Problems()
        try:
            with file.open("rb") as stream:
                raw = stream.read(BYTES_LIMIT + 1)
            content = read_format(file.suffix, raw, problems)
        except Unreadable as unreadable:
            self.error(file, unreadable.problem.message, unreadable.problem.path)
            return None
        except OSError as error:
            self.error(file, f"cannot be read: {error.strerror}")
            return None
        self.tell(file, problems)
        for repeated in problems.warnings:
            self.error(file, repeated.message.partition(";")[0], repeated.path)
        return content

    def tell(self, file: Path, problems: Problems) -> None:
        for problem in problems.errors:
            self.error(file, problem.message, problem.path)

    def refuse_duplicates(self, authored: list[Authored]) -> None:
        first: dict[str, Authored] = {}
        for each in authored:
            prior = first.setdefault(each.document.id, each)
            if prior is not each:
                where = f"{prior.file.name} {member(prior.path, 'id')}"
                message = f"{each.document.id!r} is taken already in {where}"
                self.error(each.file, message, member(each.path, "id"))
        self.refuse_any()


def read_local_catalog(directory: Path) -> list[CapabilityDocument] | None:
    """The catalog of an agent's directory; LocalCatalogError with all that is wrong."""
    return LocalCatalog(directory).documents()


def read_format(suffix: str, raw: bytes, problems: Problems) -> Document:
    if suffix == ".json":
        return read_json(raw, problems)
    # Nothing at all is a text of TOML too, and lists no capability.
    text = decoded(bounded(raw)) if raw.strip() else ""
    return checked(read_toml(text, times_as_texts=False), problems)


def catalog_files(folder: Path) -> Iterator[Path]:
    """The files AGH looks at; whatever else lies there is ignored."""
    for file in folder.iterdir():
        if is_named_like_one(file) and S_ISREG(file.lstat().st_mode):
            yield file


def is_named_like_one(file: Path) -> bool:
    return file.suffix in FORMATS and not file.name.startswith(".")


def read_authored(stated: Document, problems: Problems, at: str) -> CapabilityDocument:
    """A document as an author may write it: known keys only, and no digest."""
    refuse_unknown(stated, HASHED, problems, at)
    document = CapabilityDocument.read(stated, problems, at)
    if isinstance(stated.get("version"), str) and not document.version:
        problems.error(member(at, "version"), "must not be blank when given")
    return document


def refuse_unknown(
    stated: Document, known: Iterable[str], problems: Problems, at: str
) -> None:
    for key in stated:
        if key not in known:
            problems.error(member(at, key), "unknown key")


def in_words(paths: list[Path]) -> str:
    return ", ".join(path.name for path in paths)


def holds_catalog(folder: Path) -> bool:
    """Whether AGH would look for a catalog in this agent's directory."""
    if not folder.is_dir():
        return False
    inner = folder / CATALOG_DIRECTORY
    # Links are no catalogs, and it is told so.
    links = [
        path for path in (folder / name for name in CATALOG_FILES) if path.is_symlink()
    ]
    if (
        links
        or inner.is_symlink()
        or any((folder / name).exists() for name in CATALOG_FILES)
    ):
        return True
    return inner.is_dir() and any(map(is_named_like_one, inner.iterdir()))
