"""Inputs of a `server.json`: values that its author fixes or that users supply."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ...problems import Document

# Longer values are replaced with a placeholder, longer texts are shortened.
INPUT_VALUE_LIMIT = 2_000
TEXT_LIMIT = 300
CHOICE_LIMIT = 20
# `{name}` is a variable of the document. Clients would replace `${name}` with a value
# from the user's computer, so it is never copied into a configuration: it becomes an
# input, whose placeholder has another name.
VARIABLE_REFERENCE = re.compile(
    r"\$\{(?P<client>[^{}]{1,200})\}|\{(?P<name>[^{}\s\"']{1,200})\}"
)
CLIENT_VARIABLE = "${"
ENVIRONMENT_VARIABLE = "Environment variable"
UPPERCASE = re.compile(r"([a-z0-9])([A-Z])")


@dataclass(frozen=True, slots=True)
class Input:
    """A value that the user can supply, such as an environment variable."""

    name: str
    # Where the value is used, such as "Header" or "Environment variable".
    location: str
    description: str = ""
    is_required: bool = False
    is_secret: bool = False
    is_repeated: bool = False
    default: str = ""
    example: str = ""
    choices: tuple[str, ...] = ()
    # Where the definition declares it, which distinguishes arguments that look alike.
    source: str = ""

    @property
    def identifier(self) -> str:
        """The name in capital letters, digits and underscores; it may not be unique."""
        words = UPPERCASE.sub(r"\1_\2", self.name)
        return re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").upper() or "VALUE"

    def describe(self) -> str:
        """Return name, location and rules, such as "Header X-Key (required): Key"."""
        facts = ["required" if self.is_required and not self.default else "optional"]
        facts += ["secret"] * self.is_secret
        facts += ["can be repeated"] * self.is_repeated
        facts += [f"default {shorten(self.default)}"] * bool(self.default)
        facts += [f"one of {', '.join(self.choices)}"] * bool(self.choices)
        facts += [f"such as {self.example}"] * bool(self.example)
        summary = f"{self.location} {self.name} ({', '.join(facts)})"
        return f"{summary}: {self.description}" if self.description else summary


# A text in which the user replaces inputs.
Value = tuple[str | Input, ...]


@dataclass(frozen=True, slots=True)
class ServerSetting:
    """An argument, header or environment variable of a server.

    `value` is None if the author gives none and the user need not supply one.
    """

    name: str
    value: Value | None
    # What the user can supply; empty if the author fixes the value.
    inputs: tuple[Input, ...] = ()


def get_member(document: Document, name: str) -> Any:
    """Return a member, spelled in camelCase or, as before 2025-09, in snake_case."""
    if document.get(name) is not None:
        return document[name]
    return document.get(UPPERCASE.sub(r"\1_\2", name).lower())


def get_objects(document: Document, name: str) -> list[Document]:
    """Return the objects of a list, leaving out values of other types."""
    values = get_member(document, name)
    values = values if isinstance(values, list) else []
    return [value for value in values if isinstance(value, dict)]


def get_text(document: Document, name: str) -> str:
    """Return a string, number or boolean as text, "" for anything else."""
    value = get_member(document, name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value.bit_length() <= 64:  # noqa: PLR2004
        return str(value)
    return str(value) if isinstance(value, float) and math.isfinite(value) else ""


def get_short_text(document: Document, name: str) -> str:
    return shorten(get_text(document, name))


def shorten(text: str) -> str:
    """Return the text in one line of at most TEXT_LIMIT characters."""
    line = " ".join(text.split())
    return line if len(line) <= TEXT_LIMIT else line[: TEXT_LIMIT - 1] + "…"


def read_input(document: Document, location: str, name: str, source: str = "") -> Input:
    choices = get_member(document, "choices")
    choices = choices[:CHOICE_LIMIT] if isinstance(choices, list) else []
    return Input(
        name=name,
        location=location,
        description=get_short_text(document, "description"),
        is_required=get_member(document, "isRequired") is True,
        is_secret=get_member(document, "isSecret") is True,
        is_repeated=get_member(document, "isRepeated") is True,
        default=get_text(document, "default"),
        example=get_short_text(document, "placeholder"),
        choices=tuple(
            shorten(choice) for choice in choices if isinstance(choice, str) and choice
        ),
        source=source,
    )


def read_setting(
    document: Document, location: str, name: str, source: str = ""
) -> ServerSetting:
    """Return a setting with its fixed value, its default or a placeholder."""
    setting_input = read_input(document, location, name, source)
    if fixed_value := get_text(document, "value"):
        variables = dict(iter_variables(document, setting_input))
        value = fill_template(fixed_value, variables, setting_input) or (setting_input,)
        return ServerSetting(name, value, tuple(variables.values()))
    if default := get_text(document, "default"):
        value = fill_template(default, {}, setting_input) or (setting_input,)
        return ServerSetting(name, value, (setting_input,))
    value_or_none = (setting_input,) if setting_input.is_required else None
    return ServerSetting(name, value_or_none, (setting_input,))


def iter_variables(document: Document, parent: Input) -> Iterator[tuple[str, Input]]:
    """Yield name and input of each declared variable of a value or URL.

    A fixed value of the variable is its default here, since nothing else differs.
    """
    variables = get_member(document, "variables")
    variables = variables if isinstance(variables, dict) else {}
    location = get_variable_location(parent)
    for name, variable in variables.items():
        if not isinstance(variable, dict) or len(name) > TEXT_LIMIT:
            continue
        members = variable | {
            "default": get_text(variable, "value") or get_text(variable, "default"),
            "isRequired": True,
            "isSecret": parent.is_secret or get_member(variable, "isSecret"),
        }
        yield name, read_input(members, location, name, parent.source)


def get_variable_location(parent: Input) -> str:
    return " ".join(filter(None, [parent.location, parent.name, "variable"]))


def fill_template(
    text: str, variables: dict[str, Input], parent: Input, *, is_url: bool = False
) -> Value | None:
    """Return the text of the parent with a value or placeholder for each variable.

    Braces that are not a declared variable are copied, except in URLs. Return None if
    the result is too long or refers to a variable of the client.
    """
    parts: list[str | Input] = []
    position = length = 0
    for match in VARIABLE_REFERENCE.finditer(text[: INPUT_VALUE_LIMIT + 1]):
        name = match["client"] or match["name"]
        variable = variables.get(name)
        if variable is None and (match["client"] or is_url):
            variable = build_undeclared_variable(name, parent)
        if variable is None:
            continue
        parts += [text[position : match.start()], variable.default or variable]
        position = match.end()
        length += len(variable.default)
        if length > INPUT_VALUE_LIMIT:
            return None
    parts.append(text[position:])
    literal = "".join(part if isinstance(part, str) else " " for part in parts)
    if length + len(text) > INPUT_VALUE_LIMIT or CLIENT_VARIABLE in literal:
        return None
    return tuple(part for part in parts if part)


def build_undeclared_variable(name: str, parent: Input) -> Input:
    return Input(
        name=shorten(name),
        location=get_variable_location(parent),
        is_required=True,
        is_secret=parent.is_secret,
        source=parent.source,
    )


def name_inputs(
    inputs: Iterable[Input],
    build_name: Callable[[Input], str] = attrgetter("identifier"),
) -> dict[Input, str]:
    """Return a name of its own for each input; a number is added to repeated names."""
    names: dict[Input, str] = {}
    used_names: set[str] = set()
    numbers: Counter[str] = Counter()
    for item in dict.fromkeys(inputs):
        name = repeated_name = build_name(item)
        while name in used_names:
            numbers[repeated_name] += 1
            name = f"{repeated_name}_{numbers[repeated_name] + 1}"
        used_names.add(name)
        names[item] = name
    return names


def render(value: Value, placeholder: str, names: dict[Input, str]) -> str:
    """Return the value with a placeholder, such as "<YOUR_{}>", for each input."""
    return "".join(
        part if isinstance(part, str) else placeholder.format(names[part])
        for part in value
    )
