"""Local capability catalogs: files in the folder of an AGH agent."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ...documents import (
    DOCUMENT_BYTES_LIMIT,
    check_document,
    check_size,
    decode_utf8,
    read_json,
)
from ...front_matter.toml_text import read_toml
from ...problems import Document, Problems, UnreadableDocument, member_path
from .definitions import check_known_members, read_authored_document
from .documents import CapabilityDocument
from .identifiers import normalize_text

CATALOG_FILES = ("capabilities.toml", "capabilities.json")
CATALOG_FOLDER = "capabilities"
FILE_SUFFIXES = (".toml", ".json")
# The wording of AGH's own loader.
MIXED_LAYOUTS = "mixed capability catalog layouts"
MULTIPLE_FILES = "multiple capability catalog files"
MIXED_FORMATS = "mixed capability file formats"


@dataclass(frozen=True, slots=True)
class LocalProblem:
    """An error in a catalog file, with its JSON path."""

    file: Path
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.path} {self.message}"


class LocalCatalogError(Exception):
    """A local catalog is invalid; `problems` lists every error."""

    def __init__(self, problems: list[LocalProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class FileDocument:
    """A document from a catalog file, with its JSON path in the file."""

    file: Path
    path: str
    document: CapabilityDocument


class AgentFolderReader:
    """Reads the catalog in the folder of one agent and collects all problems."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[LocalProblem] = []

    def read_documents(self) -> list[CapabilityDocument] | None:
        """Return the documents in catalog order, or None if there is no catalog."""
        catalog = self.find_catalog()
        self.raise_if_invalid()
        if catalog is None:
            return None
        is_folder = catalog.name == CATALOG_FOLDER
        read = self.read_folder if is_folder else self.read_file
        file_documents = list(read(catalog))
        self.raise_if_invalid()
        self.check_duplicates(file_documents)
        return [file_document.document for file_document in file_documents]

    def raise_if_invalid(self) -> None:
        if self.problems:
            raise LocalCatalogError(self.problems)

    def add_error(self, file: Path, message: str, path: str = "$") -> None:
        self.problems.append(LocalProblem(file, path, message))

    def add_errors(self, file: Path, problems: Problems) -> None:
        for problem in problems.errors:
            self.add_error(file, problem.message, problem.path)

    def find_catalog(self) -> Path | None:
        """Return the catalog file or folder; having more than one is an error."""
        paths = (self.folder / name for name in (*CATALOG_FILES, CATALOG_FOLDER))
        existing = [path for path in paths if self.check_path(path)]
        if len(existing) > 1:
            is_mixed = existing[-1].name == CATALOG_FOLDER
            error = MIXED_LAYOUTS if is_mixed else MULTIPLE_FILES
            self.add_error(self.folder, f"{error}: {join_names(existing)}")
        return existing[0] if existing else None

    def check_path(self, path: Path) -> bool:
        """Return whether the path exists; add an error for a symlink or wrong type."""
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return False
        if path.name == CATALOG_FOLDER and not S_ISDIR(mode):
            self.add_error(path, "must be a folder, not a symlink or a file")
        elif path.name != CATALOG_FOLDER and not S_ISREG(mode):
            self.add_error(path, "must be a file, not a symlink or a folder")
        return True

    def read_file(self, file: Path) -> Iterator[FileDocument]:
        """Yield the documents of a single catalog file."""
        content = self.read_content(file)
        if content is None:
            return
        problems = Problems()
        check_known_members(content, ("capabilities",), problems, "$")
        for path, raw_document in problems.iter_objects(content, "capabilities"):
            document = read_authored_document(raw_document, problems, path)
            yield FileDocument(file, path, document)
        self.add_errors(file, problems)

    def read_folder(self, folder: Path) -> Iterator[FileDocument]:
        """Yield the documents of a catalog folder, one from each file."""
        files = self.list_files(folder)
        if len({file.suffix for file in files}) > 1:
            self.add_error(folder, f"{MIXED_FORMATS}: {join_names(files)}")
            return
        for file in files:
            if (content := self.read_content(file)) is not None:
                yield FileDocument(file, "$", self.read_document(file, content))

    def list_files(self, folder: Path) -> list[Path]:
        try:
            return sorted(iter_capability_files(folder))
        except OSError as error:
            self.add_error(folder, f"cannot be read: {error.strerror}")
            return []

    def read_document(self, file: Path, content: Document) -> CapabilityDocument:
        """Return the document of a file in a folder; its ID must be the file's stem."""
        problems = Problems()
        document = read_authored_document(content, problems, "$")
        if document.id and document.id != normalize_text(file.stem):
            message = (
                f"must equal the file name without its suffix, but is {document.id!r}"
            )
            problems.error("$.id", message)
        self.add_errors(file, problems)
        return document

    def read_content(self, file: Path) -> Document | None:
        """Return the content of a file, or None if it cannot be read."""
        # AGH does not accept repeated members.
        problems = Problems(rejects_repeated_members=True)
        try:
            with file.open("rb") as stream:
                raw = stream.read(DOCUMENT_BYTES_LIMIT + 1)
            content = parse_content(file.suffix, raw, problems)
        except UnreadableDocument as unreadable:
            self.add_error(file, unreadable.problem.message, unreadable.problem.path)
            return None
        except OSError as error:
            self.add_error(file, f"cannot be read: {error.strerror}")
            return None
        self.add_errors(file, problems)
        return content

    def check_duplicates(self, file_documents: list[FileDocument]) -> None:
        first_by_id: dict[str, FileDocument] = {}
        for file_document in file_documents:
            document_id = file_document.document.id
            first = first_by_id.setdefault(document_id, file_document)
            if first is not file_document:
                first_path = f"{first.file.name} {member_path(first.path, 'id')}"
                message = f"must be unique; {document_id!r} is already in {first_path}"
                id_path = member_path(file_document.path, "id")
                self.add_error(file_document.file, message, id_path)
        self.raise_if_invalid()


def read_local_catalog(folder: Path) -> list[CapabilityDocument] | None:
    """Return the catalog in the folder of an agent, or None if it has none.

    Raise LocalCatalogError with all errors if the catalog is invalid.
    """
    return AgentFolderReader(folder).read_documents()


def parse_content(suffix: str, raw: bytes, problems: Problems) -> Document:
    if suffix == ".json":
        return read_json(raw, problems)
    # An empty file is valid TOML: a catalog without capabilities.
    text = decode_utf8(check_size(raw)) if raw.strip() else ""
    return check_document(read_toml(text, dates_as_strings=False), problems)


def iter_capability_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a catalog folder that AGH reads; it ignores all others."""
    for file in folder.iterdir():
        if is_capability_file_name(file) and S_ISREG(file.lstat().st_mode):
            yield file


def is_capability_file_name(file: Path) -> bool:
    return file.suffix in FILE_SUFFIXES and not file.name.startswith(".")


def join_names(paths: list[Path]) -> str:
    return ", ".join(path.name for path in paths)


def has_catalog(folder: Path) -> bool:
    """Return whether the folder of an agent contains a catalog, valid or not."""
    if not folder.is_dir():
        return False
    catalog_folder = folder / CATALOG_FOLDER
    catalog_files = [folder / name for name in CATALOG_FILES]
    # Symlinks count, even broken ones, because reading reports them as errors.
    if catalog_folder.is_symlink() or any(
        file.is_symlink() or file.exists() for file in catalog_files
    ):
        return True
    return catalog_folder.is_dir() and any(
        map(is_capability_file_name, catalog_folder.iterdir())
    )
