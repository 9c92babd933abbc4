"""What an agent declares, spelled as in 1.0 and rid of what has a wrong type."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...features import BY_STEPS, CATEGORIES, CUSTOM, Shape, Steps, sound
from ...problems import Document, Problems, member
from ...spellings import LISTS, Spelled, spelled
from .detection import ADDRESS

GROUPS: tuple[Steps, ...] = (
    *((name,) for name in CATEGORIES if name != CUSTOM),
    ("multimodal", "input"),
    ("multimodal", "output"),
)
TOOLS, SUBAGENTS = LISTS
ITEM_MEMBERS = {
    TOOLS: {"name", "description", "parameters", "metadata"},
    SUBAGENTS: {"name", "description"},
}
ROOT_MEMBERS = {ADDRESS, "$schema"}


class Item(NamedTuple):
    """A tool or a sub-agent, and where it stands."""

    path: str
    stated: Document


@dataclass(frozen=True, slots=True)
class Declaration:
    """`document` holds what is declared, and every unknown member as it was."""

    spelled: Spelled
    document: Document = field(default_factory=dict)
    tools: list[Item] = field(default_factory=list)
    subagents: list[Item] = field(default_factory=list)

    def value(self, steps: Steps) -> Any:
        """What is declared there; None is unknown, and never false."""
        value: Any = self.document
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    def place(self, steps: Steps) -> str:
        return self.spelled.place(steps)


def read_declaration(document: Document, problems: Problems) -> Declaration:
    """Everything the document declares; what cannot be meant is told and left out."""
    declaration = Declaration(spelled(document))
    for path in declaration.spelled.outdone:
        problems.warning(path, "is said otherwise in AG-UI 1.0's spelling; ignored")
    for path in declaration.spelled.unfit:
        problems.warning(path, f"should be {Shape.OBJECT}; ignored")
    stated = declaration.spelled.document
    declaration.document.update(read_group((), stated, declaration, problems))
    return declaration


def read_group(
    at: Steps, stated: Document, declaration: Declaration, problems: Problems
) -> Document:
    """The members of an object that are sound or unknown."""
    kept: Document = {}
    for key, value in stated.items():
        steps = (*at, key)
        if not is_known(steps):
            message = "unknown member; kept, not interpreted"
            problems.warning(declaration.place(steps), message)
            kept[key] = value
        elif value is not None:
            read = read_member(steps, value, declaration, problems)
            kept.update({key: read} if read is not None else {})
    return kept


def is_known(steps: Steps) -> bool:
    own = steps in BY_STEPS or steps in GROUPS or steps in LISTS
    return own or steps == (CUSTOM,) or (len(steps) == 1 and steps[0] in ROOT_MEMBERS)


def read_member(
    steps: Steps, value: Any, declaration: Declaration, problems: Problems
) -> Any:
    """A known member; None, and a warning, when it holds what it cannot."""
    path = declaration.place(steps)
    if steps in LISTS:
        return read_list(steps, value, declaration, problems)
    if steps in BY_STEPS:
        return read_value(BY_STEPS[steps].shape, value, path, problems)
    if steps == (CUSTOM,) or steps in GROUPS:
        stated = read_value(Shape.OBJECT, value, path, problems)
        if stated is None or steps == (CUSTOM,):
            return stated
        return read_group(steps, stated, declaration, problems)
    return value


def read_value(shape: Shape, value: Any, path: str, problems: Problems) -> Any:
    read = sound(shape, value)
    if read is None:
        problems.warning(path, f"should be {shape}; ignored")
    elif shape is Shape.TEXTS:
        for n, each in enumerate(value):
            if not isinstance(each, str):
                problems.warning(f"{path}[{n}]", "should be a string; ignored")
    return read


def read_list(
    steps: Steps, value: Any, declaration: Declaration, problems: Problems
) -> list[Document] | None:
    """The tools or sub-agents that have a name."""
    path = declaration.place(steps)
    if not isinstance(value, list):
        problems.warning(path, "should be a list of objects; ignored")
        return None
    found = declaration.tools if steps == TOOLS else declaration.subagents
    for item in objects(value, path, problems):
        if read := read_item(steps, item, problems):
            found.append(Item(item.path, read))
    return [item.stated for item in found]


def objects(values: list[Any], path: str, problems: Problems) -> Iterator[Item]:
    for n, value in enumerate(values):
        if isinstance(value, dict):
            yield Item(f"{path}[{n}]", value)
        else:
            problems.warning(f"{path}[{n}]", "should be an object; left out")


def read_item(steps: Steps, item: Item, problems: Problems) -> Document:
    """A tool or sub-agent of sound members, {} when it has no name to call it by."""
    path, stated = item
    name = stated.get("name")
    if not isinstance(name, str) or not name.strip():
        message = "must be a non-empty string; left out"
        problems.warning(member(path, "name"), message)
        return {}
    problems.unknown(stated, ITEM_MEMBERS[steps], path)
    kept = {key: value for key, value in stated.items() if value is not None}
    lacks_description = "description" not in kept
    for key, shape in (("description", Shape.TEXT), ("metadata", Shape.OBJECT)):
        if key in kept and key in ITEM_MEMBERS[steps]:
            read = read_value(shape, kept.pop(key), member(path, key), problems)
            kept.update({key: read} if read is not None else {})
    if steps == TOOLS and lacks_description:
        problems.warning(member(path, "description"), "is required by AG-UI; missing")
    return {"description": "", **kept} if steps == TOOLS else kept
