"""Read an AgentCapabilities document: normalize its spelling, drop invalid values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...features import (
    CATEGORY_NAMES,
    CUSTOM_CATEGORY,
    FEATURES_BY_KEY_PATH,
    KeyPath,
    Shape,
    clean_value,
)
from ...problems import Document, Problems, member_path
from ...spellings import LIST_KEY_PATHS, NormalizedDocument, normalize_document
from .detection import ENDPOINT_MEMBER

# Members that are objects with members of their own.
GROUP_KEY_PATHS: tuple[KeyPath, ...] = (
    *((name,) for name in CATEGORY_NAMES if name != CUSTOM_CATEGORY),
    ("multimodal", "input"),
    ("multimodal", "output"),
)
TOOLS_KEY_PATH, SUBAGENTS_KEY_PATH = LIST_KEY_PATHS
ITEM_MEMBERS = {
    TOOLS_KEY_PATH: {"name", "description", "parameters", "metadata"},
    SUBAGENTS_KEY_PATH: {"name", "description"},
}
# Members of the root besides the categories.
EXTRA_ROOT_MEMBERS = {ENDPOINT_MEMBER, "$schema"}


class DeclaredItem(NamedTuple):
    """A tool or a sub-agent, and its JSON path in the original document."""

    path: str
    document: Document


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration in the spelling of AG-UI 1.0.

    `document` has the valid members, and unknown members unchanged.
    """

    normalized: NormalizedDocument
    document: Document = field(default_factory=dict)
    tools: list[DeclaredItem] = field(default_factory=list)
    subagents: list[DeclaredItem] = field(default_factory=list)

    def value(self, key_path: KeyPath) -> Any:
        """Return the declared value, or None if nothing is declared."""
        value: Any = self.document
        for key in key_path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def original_path(self, key_path: KeyPath) -> str:
        """Return the JSON path of a member as its author spelled it."""
        return self.normalized.original_path(key_path)


def read_declaration(document: Document, problems: Problems) -> Declaration:
    """Return what the document declares; warn of invalid values and omit them."""
    declaration = Declaration(normalize_document(document))
    for path in declaration.normalized.conflicting_paths:
        problems.warning(path, "contradicts its AG-UI 1.0 spelling; ignored")
    for path in declaration.normalized.non_object_paths:
        problems.warning(path, f"should be {Shape.OBJECT}; ignored")
    normalized = declaration.normalized.document
    declaration.document.update(read_group((), normalized, declaration, problems))
    return declaration


def read_group(
    key_path: KeyPath, group: Document, declaration: Declaration, problems: Problems
) -> Document:
    """Return the valid and the unknown members of an object."""
    members: Document = {}
    for key, value in group.items():
        member_key_path = (*key_path, key)
        if not is_known(member_key_path):
            path = declaration.original_path(member_key_path)
            message = "is an unknown member; stored, but not interpreted"
            problems.warning(path, message)
            members[key] = value
        elif value is not None:
            cleaned = read_member(member_key_path, value, declaration, problems)
            if cleaned is not None:
                members[key] = cleaned
    return members


def is_known(key_path: KeyPath) -> bool:
    """Return whether AG-UI defines this member."""
    return (
        key_path in FEATURES_BY_KEY_PATH
        or key_path in GROUP_KEY_PATHS
        or key_path in LIST_KEY_PATHS
        or key_path == (CUSTOM_CATEGORY,)
        or (len(key_path) == 1 and key_path[0] in EXTRA_ROOT_MEMBERS)
    )


def read_member(
    key_path: KeyPath, value: Any, declaration: Declaration, problems: Problems
) -> Any:
    """Return the value of a known member, or None with a warning if it is invalid."""
    path = declaration.original_path(key_path)
    if key_path in LIST_KEY_PATHS:
        return read_list(key_path, value, declaration, problems)
    if key_path in FEATURES_BY_KEY_PATH:
        shape = FEATURES_BY_KEY_PATH[key_path].shape
        return read_value(shape, value, problems, path)
    if key_path == (CUSTOM_CATEGORY,) or key_path in GROUP_KEY_PATHS:
        group = read_value(Shape.OBJECT, value, problems, path)
        if group is None or key_path == (CUSTOM_CATEGORY,):
            return group
        return read_group(key_path, group, declaration, problems)
    return value


def read_value(shape: Shape, value: Any, problems: Problems, path: str) -> Any:
    cleaned = clean_value(shape, value)
    if cleaned is None:
        problems.warning(path, f"should be {shape}; ignored")
    elif shape is Shape.STRING_LIST:
        for n, item in enumerate(value):
            if not isinstance(item, str):
                problems.warning(f"{path}[{n}]", "should be a string; ignored")
    return cleaned


def read_list(
    key_path: KeyPath, value: Any, declaration: Declaration, problems: Problems
) -> list[Document] | None:
    """Return the tools or sub-agents with a name; also add them to the declaration."""
    path = declaration.original_path(key_path)
    if not isinstance(value, list):
        problems.warning(path, "should be a list of objects; ignored")
        return None
    is_tools = key_path == TOOLS_KEY_PATH
    items = declaration.tools if is_tools else declaration.subagents
    for item in iter_items(value, problems, path):
        if document := read_item(key_path, item, problems):
            items.append(DeclaredItem(item.path, document))
    return [item.document for item in items]


def iter_items(
    values: list[Any], problems: Problems, path: str
) -> Iterator[DeclaredItem]:
    for n, value in enumerate(values):
        if isinstance(value, dict):
            yield DeclaredItem(f"{path}[{n}]", value)
        else:
            problems.warning(f"{path}[{n}]", "should be an object; ignored")


def read_item(key_path: KeyPath, item: DeclaredItem, problems: Problems) -> Document:
    """Return the valid members of a tool or sub-agent, or {} if it has no name."""
    path, document = item
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        message = "must be a non-empty string; the item is ignored"
        problems.warning(member_path(path, "name"), message)
        return {}
    problems.warn_unknown(document, ITEM_MEMBERS[key_path], path)
    members = {key: value for key, value in document.items() if value is not None}
    lacks_description = "description" not in members
    for key, shape in (("description", Shape.STRING), ("metadata", Shape.OBJECT)):
        if key in members and key in ITEM_MEMBERS[key_path]:
            value = members.pop(key)
            cleaned = read_value(shape, value, problems, member_path(path, key))
            if cleaned is not None:
                members[key] = cleaned
    if key_path != TOOLS_KEY_PATH:
        return members
    if lacks_description:
        problems.warning(
            member_path(path, "description"), "is required by AG-UI but missing"
        )
    return {"description": "", **members}
