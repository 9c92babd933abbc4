"""From bytes to a document that is safe to walk, store and show."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from . import front_matter
from .numbers import finite
from .problems import (
    DEPTH_LIMIT,
    PROBLEM_LIMIT,
    Document,
    Problems,
    Unreadable,
    member,
    too_deep,
)

BYTES_LIMIT = 1_048_576


def read(raw: bytes, problems: Problems) -> Document:
    """The definition in these bytes, JSON or not; raises Unreadable without one."""
    text = decoded(bounded(raw))
    if front_matter.opens(text):
        return checked(front_matter.decode(text, problems), problems)
    return checked(decode(text, problems), problems)


def read_json(raw: bytes, problems: Problems) -> Document:
    """The JSON object in these bytes; raises Unreadable when there is none."""
    return checked(decode(decoded(bounded(raw)), problems), problems)


def bounded(raw: bytes) -> bytes:
    if len(raw) > BYTES_LIMIT:
        raise Unreadable(f"is larger than {BYTES_LIMIT} bytes")
    return raw


def decoded(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 at byte {error.start}") from error
    if not text.strip():
        raise Unreadable("is empty")
    return text


def checked(document: Any, problems: Problems) -> Document:
    """An object, whatever is wrong inside it told at its path."""
    if not isinstance(document, dict):
        raise Unreadable(f"must be a JSON object, is {json_type(document)}")
    for path, message in islice(faults(document), PROBLEM_LIMIT + 1):
        problems.error(path, message)
    return document


def dumped(document: Document) -> bytes:
    """A document that we put together, as text to be kept."""
    return json.dumps(document, ensure_ascii=False).encode()


def decode(text: str, problems: Problems) -> Any:
    """Strict JSON: no NaN, finite numbers; a repeated member is a warning."""

    def pairs(items: list[tuple[str, Any]]) -> Document:
        document = dict(items)
        if len(document) < len(items):
            for key, count in Counter(key for key, _ in items).items():
                if count > 1:
                    message = f"member {key!r} is repeated; the last one counts"
                    problems.warning("$", message)
        return document

    try:
        return json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_float=finite
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise Unreadable(f"is not JSON: {error.msg} at {where}") from error
    except RecursionError as error:
        raise too_deep() from error
    except ValueError as error:  # an integer of thousands of digits
        raise Unreadable("holds a number that is too long") from error


def constant(name: str) -> float:
    raise Unreadable(f"is not JSON: {name} is no JSON value")


def json_type(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def faults(value: Any, steps: tuple[str | int, ...] = ()) -> Iterator[tuple[str, str]]:
    """Texts no database takes, and nesting nobody means, each with its path."""
    if isinstance(value, str):
        if message := text_fault(value):
            yield place(steps), message
    elif isinstance(value, (dict, list)):
        if len(steps) >= DEPTH_LIMIT:
            raise too_deep(place(steps))
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in inside:
            if isinstance(step, str) and (message := text_fault(step)):
                yield place(steps), f"has a member name that {message}"
            yield from faults(item, (*steps, step))


def place(steps: tuple[str | int, ...]) -> str:
    """The path these steps lead to; spelled out only where there is news to tell."""
    path = "$"
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else member(path, step)
    return path


def text_fault(text: str) -> str:
    if "\0" in text:
        return "must not contain NUL characters"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "must not contain lone surrogates"
    return ""
