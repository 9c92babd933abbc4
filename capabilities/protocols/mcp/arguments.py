"""Command-line arguments of a package."""

from collections.abc import Iterator

from ...problems import Document
from .inputs import (
    Input,
    ServerSetting,
    Value,
    get_member,
    get_objects,
    get_text,
    read_setting,
)

# A named argument with other members takes a value.
FLAG_MEMBERS = {"type", "name", "isRepeated", "is_repeated"}


def read_arguments(package: Document, key: str) -> tuple[list[Value], list[Input]]:
    """Return the arguments of the command line and what users can supply for them.

    Optional arguments without a value are left out.
    """
    settings = list(iter_argument_settings(get_objects(package, key), key))
    arguments = [argument for setting in settings for argument in iter_parts(setting)]
    inputs = [item for setting, _ in settings for item in setting.inputs]
    return arguments, inputs


def iter_argument_settings(
    documents: list[Document], key: str
) -> Iterator[tuple[ServerSetting, str]]:
    """Yield each setting, and the name to write before its value if it has one."""
    settings = [
        read_argument(document, number, f"{key}[{number}]")
        for number, document in enumerate(documents, 1)
    ]
    positions = [
        n for n, (setting, name) in enumerate(settings) if setting.value and not name
    ]
    last_position = max(positions, default=-1)
    for n, (setting, name) in enumerate(settings):
        if setting.value is None and not name and n < last_position:
            # Without it, the positional arguments that follow would move.
            yield ServerSetting(setting.name, setting.inputs, setting.inputs), name
        else:
            yield setting, name


def read_argument(
    document: Document, number: int, source: str
) -> tuple[ServerSetting, str]:
    """Return the setting of an argument and its name, "" if it is positional."""
    name = get_text(document, "name").strip()
    if not name or get_member(document, "type") == "positional":
        hint = get_text(document, "valueHint").strip() or f"argument {number}"
        return read_setting(document, "Argument", hint, source), ""
    setting = read_setting(document, "Argument", name, source)
    if is_flag(document):
        return ServerSetting(name, (), ()), name
    return setting, name


def is_flag(document: Document) -> bool:
    """Return whether a named argument is complete without a value."""
    if get_text(document, "value") or get_text(document, "default"):
        return False
    if get_member(document, "isRequired") is True:
        return get_text(document, "format") == "boolean"
    return {key for key in document if document[key]} <= FLAG_MEMBERS


def iter_parts(argument: tuple[ServerSetting, str]) -> Iterator[Value]:
    """Yield the parts of the command line: name and value, or either of them."""
    setting, name = argument
    if setting.value is None:
        return
    if name.endswith("="):
        yield (name, *setting.value)
        return
    if name:
        yield (name,)
    if setting.value:
        yield setting.value
