"""Normalizing the spellings of AG-UI feature names to those of AG-UI 1.0.

Older revisions use other names, and some agents write names in snake_case.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .features import CATEGORY_NAMES, FEATURES_BY_KEY_PATH, KeyPath
from .problems import Document, member_path

# The flat flags of `multimodal` before 1.0, and their group and medium in 1.0.
FLAT_MULTIMODAL_FLAGS = {
    "imageInput": ("input", "image"),
    "imageGeneration": ("output", "image"),
    "audioInput": ("input", "audio"),
    "audioOutput": ("output", "audio"),
    "videoInput": ("input", "video"),
    "pdfInput": ("input", "pdf"),
    "fileInput": ("input", "file"),
}
SUBAGENTS, LEGACY_SUBAGENTS = "subagents", "subAgents"
LIST_KEY_PATHS: tuple[KeyPath, ...] = (("tools", "items"), ("multiAgent", SUBAGENTS))
CAPITAL = re.compile("[A-Z]")


def to_snake_case(name: str) -> str:
    return CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)


def build_snake_case_spellings(names: tuple[str, ...]) -> dict[str, str]:
    """Return the names by their snake_case spelling, where that differs."""
    return {to_snake_case(name): name for name in names if to_snake_case(name) != name}


def list_category_members(category: str) -> tuple[str, ...]:
    key_paths = (*FEATURES_BY_KEY_PATH, *LIST_KEY_PATHS)
    return tuple(key_path[1] for key_path in key_paths if key_path[0] == category)


CATEGORY_SPELLINGS = build_snake_case_spellings(CATEGORY_NAMES)
MEMBER_SPELLINGS = {
    name: build_snake_case_spellings(list_category_members(name))
    for name in CATEGORY_NAMES
}
MEMBER_SPELLINGS["multimodal"] |= build_snake_case_spellings(
    tuple(FLAT_MULTIMODAL_FLAGS)
)
MEMBER_SPELLINGS["multiAgent"] |= {LEGACY_SUBAGENTS: SUBAGENTS, "sub_agents": SUBAGENTS}


@dataclass(frozen=True, slots=True)
class NormalizedDocument:
    """A document in the spelling of 1.0, with the original paths of its members."""

    document: Document = field(default_factory=dict)
    original_paths: dict[KeyPath, str] = field(default_factory=dict)
    # Paths of ignored values: the member has another value under its name in 1.0.
    conflicting_paths: list[str] = field(default_factory=list)
    # Paths of ignored values where 1.0 requires an object.
    non_object_paths: list[str] = field(default_factory=list)

    def original_path(self, key_path: KeyPath) -> str:
        """Return the path of a member in the original document."""
        if not key_path:
            return "$"
        if path := self.original_paths.get(key_path):
            return path
        return member_path(self.original_path(key_path[:-1]), key_path[-1])

    def record_conflict(self, key_path: KeyPath, ignored: Any, used: Any) -> None:
        if ignored is not None and ignored != used:
            self.conflicting_paths.append(self.original_path(key_path))


def normalize_document(document: Document) -> NormalizedDocument:
    """Return the document with every member under its name in 1.0."""
    result = NormalizedDocument()
    result.document.update(rename_members(document, CATEGORY_SPELLINGS, (), result))
    for name, spellings in MEMBER_SPELLINGS.items():
        if isinstance(category := result.document.get(name), dict):
            renamed = rename_members(category, spellings, (name,), result)
            result.document[name] = renamed
    if isinstance(multimodal := result.document.get("multimodal"), dict):
        result.document["multimodal"] = nest_flat_flags(multimodal, result)
    return result


def normalize_feature_name(name: str) -> str:
    """Return the name that AG-UI 1.0 has for a feature.

    For example, `multimodal.imageInput` becomes `multimodal.input.image`.
    """
    document: Any = True
    for key in reversed(name.split(".")):
        document = {key: document}
    value: Any = normalize_document(document).document
    key_path: list[str] = []
    while isinstance(value, dict) and len(value) == 1:
        ((key, value),) = value.items()
        key_path.append(key)
    return ".".join(key_path) if value is True else name


def rename_members(
    members: Document,
    spellings: Mapping[str, str],
    parent: KeyPath,
    result: NormalizedDocument,
) -> Document:
    """Return the members under their names in 1.0.

    A value under the name of 1.0 takes precedence over other spellings.
    """
    renamed: Document = {}
    # Names that are not in `spellings` are those of 1.0: they come first.
    for key in sorted(members, key=spellings.__contains__):
        name = spellings.get(key, key)
        if renamed.get(name) is not None:
            result.record_conflict((*parent, key), members[key], renamed[name])
            continue
        renamed[name] = members[key]
        if name != key:
            path = member_path(result.original_path(parent), key)
            result.original_paths[*parent, name] = path
    return renamed


def nest_flat_flags(multimodal: Document, result: NormalizedDocument) -> Document:
    """Return `multimodal` with its flat flags moved into `input` and `output`.

    A value that is already there takes precedence.
    """
    nested = dict(multimodal)
    for flat_name, (group_name, medium) in FLAT_MULTIMODAL_FLAGS.items():
        if flat_name not in multimodal:
            continue
        group = nested.get(group_name)
        if not isinstance(group, dict | None):
            path = result.original_path(("multimodal", group_name))
            result.non_object_paths.append(path)
            group = nested[group_name] = {}
        value, group = nested.pop(flat_name), dict(group or {})
        flat_path = ("multimodal", flat_name)
        nested_path = ("multimodal", group_name, medium)
        if group.get(medium) is not None:
            result.record_conflict(flat_path, value, group[medium])
        elif value is not None:
            result.original_paths[nested_path] = result.original_path(flat_path)
            nested[group_name] = group | {medium: value}
    return nested
