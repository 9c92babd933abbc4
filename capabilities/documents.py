"""Reading bytes into a document that is safe to traverse, store and display."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from . import front_matter
from .numbers import build_long_integer_error, parse_finite_float
from .problems import (
    DEPTH_LIMIT,
    PROBLEM_LIMIT,
    Document,
    Problems,
    UnreadableDocument,
    build_too_deep_error,
    member_path,
)

DOCUMENT_BYTES_LIMIT = 1_048_576

# The member names and list indexes that lead to a value, such as ("skills", 0, "id").
Keys = tuple[str | int, ...]


def read_document(raw: bytes, problems: Problems) -> Document:
    """Decode a definition in JSON, YAML or TOML.

    Raise UnreadableDocument if the bytes do not contain an object in such a format.
    """
    text = decode_utf8(check_size(raw))
    if front_matter.is_yaml_or_toml(text):
        return check_document(front_matter.decode(text, problems), problems)
    return check_document(decode_json(text, problems), problems)


def read_json(raw: bytes, problems: Problems) -> Document:
    """Decode a JSON object; raise UnreadableDocument if the bytes contain none."""
    text = decode_utf8(check_size(raw))
    return check_document(decode_json(text, problems), problems)


def describe_other_content(raw: bytes) -> str:
    """Return what bytes contain that are not meant as a document, such as "HTML".

    Return "" if they look like JSON, YAML or TOML, valid or not.
    """
    text = raw[:1000].decode("utf-8-sig", "replace").strip()
    if not text:
        return "an empty response"
    if text.startswith("<"):
        return (
            "HTML" if "<html" in text.lower() or "<!doctype" in text.lower() else "XML"
        )
    if text.startswith(("{", "[", '"')) or front_matter.is_yaml_or_toml(text):
        return ""
    return "text"


def check_size(raw: bytes) -> bytes:
    if len(raw) > DOCUMENT_BYTES_LIMIT:
        raise UnreadableDocument(f"is larger than {DOCUMENT_BYTES_LIMIT} bytes")
    return raw


def decode_utf8(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDocument(f"is not UTF-8 at byte {error.start}") from error
    if not text.strip():
        raise UnreadableDocument("is empty")
    return text


def check_document(document: Any, problems: Problems) -> Document:
    """Return the value as an object; add errors for strings that cannot be stored.

    Raise UnreadableDocument if it is not an object or is nested too deeply.
    """
    if not isinstance(document, dict):
        raise UnreadableDocument(f"must be a JSON object, not {json_type(document)}")
    for path, message in islice(iter_errors(document), PROBLEM_LIMIT + 1):
        problems.error(path, message)
    return document


def dump_json(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def decode_json(text: str, problems: Problems) -> Any:
    """Decode strict JSON without NaN or infinity; report repeated members."""

    def build_object(pairs: list[tuple[str, Any]]) -> Document:
        document = dict(pairs)
        if len(document) < len(pairs):
            for key, count in Counter(key for key, _ in pairs).items():
                if count > 1:
                    # The decoder does not say where in the document the object is.
                    message = f"member {key!r} is repeated in an object of the document"
                    problems.repeated_member("$", message)
        return document

    try:
        return json.loads(
            text,
            object_pairs_hook=build_object,
            parse_constant=reject_constant,
            parse_float=parse_finite_float,
        )
    except json.JSONDecodeError as error:
        position = f"line {error.lineno} column {error.colno}"
        message = f"is not JSON: {error.msg} at {position}"
        raise UnreadableDocument(message) from error
    except RecursionError as error:
        raise build_too_deep_error() from error
    except ValueError as error:  # Python limits the digits of an integer
        raise build_long_integer_error() from error


def reject_constant(name: str) -> float:
    raise UnreadableDocument(f"is not JSON: {name} is not a JSON value")


def json_type(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def iter_errors(value: Any, keys: Keys = ()) -> Iterator[tuple[str, str]]:
    """Yield path and message for each string that databases cannot store.

    Raise UnreadableDocument if the value is nested too deeply.
    """
    if isinstance(value, str):
        if message := find_text_error(value):
            yield json_path(keys), message
    elif isinstance(value, (dict, list)):
        if len(keys) >= DEPTH_LIMIT:
            raise build_too_deep_error(json_path(keys))
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            if isinstance(key, str) and (message := find_text_error(key)):
                yield json_path(keys), f"has a member name that {message}"
            yield from iter_errors(item, (*keys, key))


def json_path(keys: Keys) -> str:
    """Return the JSON path of nested keys, like `$.skills[0].name`."""
    path = "$"
    for key in keys:
        path = f"{path}[{key}]" if isinstance(key, int) else member_path(path, key)
    return path


def find_text_error(text: str) -> str:
    """Return why a database cannot store the string, or ''."""
    if "\0" in text:
        return "must not contain NUL characters"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "must not contain lone surrogates"
    return ""
