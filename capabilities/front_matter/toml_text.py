"""TOML as JSON would have it."""

import re
import tomllib
from datetime import date, time
from typing import Any

from ..numbers import bounded, finite
from ..problems import Document, Unreadable, too_deep

# Reading a key of n parts takes tomllib n² steps.
DOTS_LIMIT = 256
PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(text: str, *, times_as_texts: bool = True) -> Document:
    """What it says; its days and times as texts, or as what nobody takes for one."""
    refuse_endless_keys(text)
    try:
        stated = tomllib.loads(text, parse_float=finite)
        document: Document = plain(stated, times_as_texts)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"is not TOML: {in_words(str(error))}") from error
    except RecursionError as error:
        raise too_deep() from error
    except ValueError as error:  # an integer of thousands of digits
        raise Unreadable("holds a number that is too long") from error
    return document


def refuse_endless_keys(text: str) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > DOTS_LIMIT:
            message = f"has more than {DOTS_LIMIT} dots in one line, at line {number}"
            raise Unreadable(message)


def in_words(message: str) -> str:
    """The place in it as all our messages have it."""
    found = PLACE.search(message)
    if found is None:
        return message
    where = f"line {found[1]} column {found[2]}" if found[1] else "the end"
    return f"{message[: found.start()]} at {where}"


def plain(value: Any, times_as_texts: bool) -> Any:
    """A value as JSON has it, where days and times are texts."""
    if isinstance(value, dict):
        return {key: plain(item, times_as_texts) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, times_as_texts) for item in value]
    if isinstance(value, (date, time)) and times_as_texts:
        return value.isoformat()
    return bounded(value) if isinstance(value, int) else value
