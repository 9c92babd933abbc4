"""Reading TOML into the types of JSON."""

import re
import tomllib
from datetime import date, time
from typing import Any

from ..numbers import build_long_integer_error, check_int64, parse_finite_float
from ..problems import Document, UnreadableDocument, build_too_deep_error

# tomllib needs n² steps for a key of n parts.
DOTS_LIMIT = 256
POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(text: str, *, dates_as_strings: bool = True) -> Document:
    """Return the document; raise UnreadableDocument if it is not valid TOML.

    Dates and times become ISO strings. If `dates_as_strings` is false, they stay
    objects, for callers that reject them.
    """
    reject_long_keys(text)
    try:
        parsed = tomllib.loads(text, parse_float=parse_finite_float)
        document: Document = to_json_types(parsed, dates_as_strings)
    except tomllib.TOMLDecodeError as error:
        message = normalize_position(str(error))
        raise UnreadableDocument(f"is not TOML: {message}") from error
    except RecursionError as error:
        raise build_too_deep_error() from error
    except ValueError as error:  # Python limits the digits of an integer
        raise build_long_integer_error() from error
    return document


def reject_long_keys(text: str) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > DOTS_LIMIT:
            message = f"has more than {DOTS_LIMIT} dots in one line, at line {number}"
            raise UnreadableDocument(message)


def normalize_position(message: str) -> str:
    """Return tomllib's message with the position in the form of all other messages."""
    match = POSITION.search(message)
    if match is None:
        return message
    position = f"line {match[1]} column {match[2]}" if match[1] else "the end"
    return f"{message[: match.start()]} at {position}"


def to_json_types(value: Any, dates_as_strings: bool) -> Any:
    if isinstance(value, dict):
        return {
            key: to_json_types(item, dates_as_strings) for key, item in value.items()
        }
    if isinstance(value, list):
        return [to_json_types(item, dates_as_strings) for item in value]
    if isinstance(value, (date, time)) and dates_as_strings:
        return value.isoformat()
    return check_int64(value) if isinstance(value, int) else value
