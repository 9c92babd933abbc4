"""One spelling for all: the seed's, that of 0.x, snake_case, read as 1.0 has it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .features import BY_STEPS, CATEGORIES, Steps
from .problems import Document, member

# The seed's flags of `multimodal`, and where 1.0 has them.
FLAT = {
    "imageInput": ("input", "image"),
    "imageGeneration": ("output", "image"),
    "audioInput": ("input", "audio"),
    "audioOutput": ("output", "audio"),
    "videoInput": ("input", "video"),
    "pdfInput": ("input", "pdf"),
    "fileInput": ("input", "file"),
}
SUBAGENTS, SEED_SUBAGENTS = "subagents", "subAgents"
LISTS: tuple[Steps, ...] = (("tools", "items"), ("multiAgent", SUBAGENTS))
CAPITAL = re.compile("[A-Z]")


def snake(name: str) -> str:
    return CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)


def respelled(names: tuple[str, ...]) -> dict[str, str]:
    """From each name in snake_case to the name."""
    return {snake(name): name for name in names if snake(name) != name}


def members(category: str) -> tuple[str, ...]:
    return tuple(steps[1] for steps in (*BY_STEPS, *LISTS) if steps[0] == category)


ROOT_SPELLINGS = respelled(CATEGORIES)
SPELLINGS = {name: respelled(members(name)) for name in CATEGORIES}
SPELLINGS["multimodal"] |= respelled(tuple(FLAT))
SPELLINGS["multiAgent"] |= {SEED_SUBAGENTS: SUBAGENTS, "sub_agents": SUBAGENTS}


@dataclass(frozen=True, slots=True)
class Spelled:
    """A document as 1.0 spells it, and where its members stood before.

    `outdone` has the places of values that another spelling contradicts, `unfit` of
    those that stand where 1.0 has an object.
    """

    document: Document = field(default_factory=dict)
    places: dict[Steps, str] = field(default_factory=dict)
    outdone: list[str] = field(default_factory=list)
    unfit: list[str] = field(default_factory=list)

    def place(self, steps: Steps) -> str:
        """The path of a member as its author wrote it."""
        if not steps:
            return "$"
        known = self.places.get(steps)
        return known or member(self.place(steps[:-1]), steps[-1])

    def compare(self, steps: Steps, value: Any, counted: Any) -> None:
        if value is not None and value != counted:
            self.outdone.append(self.place(steps))


def spelled(document: Document) -> Spelled:
    """The document in 1.0's words, with the way back to its author's."""
    result = Spelled()
    result.document.update(renamed(document, ROOT_SPELLINGS, (), result))
    for name, spellings in SPELLINGS.items():
        if isinstance(inside := result.document.get(name), dict):
            result.document[name] = renamed(inside, spellings, (name,), result)
    if isinstance(flags := result.document.get("multimodal"), dict):
        result.document["multimodal"] = nested(flags, result)
    return result


def standard_name(name: str) -> str:
    """A feature's name in 1.0's spelling: `multimodal.imageInput` is `.input.image`."""
    stated: Any = True
    for step in reversed(name.split(".")):
        stated = {step: stated}
    told: Any = spelled(stated).document
    steps: list[str] = []
    while isinstance(told, dict) and len(told) == 1:
        ((step, told),) = told.items()
        steps.append(step)
    return ".".join(steps) if told is True else name


def renamed(
    stated: Document, spellings: Mapping[str, str], at: Steps, result: Spelled
) -> Document:
    """The members under their names in 1.0; said twice, 1.0's own word counts."""
    kept: Document = {}
    for key in sorted(stated, key=spellings.__contains__):
        name = spellings.get(key, key)
        if kept.get(name) is not None:
            result.compare((*at, key), stated[key], kept[name])
            continue
        kept[name] = stated[key]
        if name != key:
            result.places[*at, name] = member(result.place(at), key)
    return kept


def nested(flags: Document, result: Spelled) -> Document:
    """The seed's flat flags moved to where 1.0 has them, over nothing said there."""
    kept = dict(flags)
    for flat, (way, medium) in FLAT.items():
        if flat not in flags:
            continue
        inside = kept.get(way)
        if not isinstance(inside, dict | None):
            result.unfit.append(result.place(("multimodal", way)))
            inside = kept[way] = {}
        value, inside = kept.pop(flat), dict(inside or {})
        old, new = ("multimodal", flat), ("multimodal", way, medium)
        if inside.get(medium) is not None:
            result.compare(old, value, inside[medium])
        elif value is not None:
            result.places[new] = result.place(old)
            kept[way] = inside | {medium: value}
    return kept
