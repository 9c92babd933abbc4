"""Strict reading of envelope members: an invalid value raises EnvelopeError."""

import json
from re import Pattern
from typing import Any

from ... import documents
from ...numbers import INT64_MAX
from ...problems import Document, Problems, UnreadableDocument, member_path
from .errors import (
    EnvelopeTooLarge,
    ReasonCode,
    build_malformed_error,
    raise_first_error,
)
from .identifiers import normalize_text

ENVELOPE_BYTES_LIMIT = 1_048_576
ID_LIMIT = 256


def dump_compact_json(document: Document) -> bytes:
    """Return compact JSON, in which the size of an envelope is measured."""
    text = json.dumps(
        document, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode()


def decode_envelope(received: bytes | Document | list[Any]) -> Document:
    """Return the JSON object of an envelope; raise EnvelopeError if it is invalid.

    It must be valid JSON within the size limit, without repeated members.
    """
    # An envelope with a repeated member could not be relayed as it was received.
    problems = Problems(rejects_repeated_members=True)
    try:
        if isinstance(received, bytes):
            check_envelope_size(len(received))
            raw = documents.read_json(received, problems)
        else:
            raw = documents.check_document(received, problems)
    except UnreadableDocument as unreadable:
        problem = unreadable.problem
        raise build_malformed_error(problem.message, problem.path) from unreadable
    raise_first_error(problems)
    if not isinstance(received, bytes):
        check_envelope_size(get_serialized_size(raw))
    return raw


def get_serialized_size(raw: Document) -> int:
    try:
        return len(dump_compact_json(raw))
    except (TypeError, ValueError) as error:
        raise build_malformed_error(f"is not JSON: {error}") from error


def check_envelope_size(size: int) -> None:
    if size > ENVELOPE_BYTES_LIMIT:
        message = f"has {size} bytes; the limit is {ENVELOPE_BYTES_LIMIT}"
        raise EnvelopeTooLarge(ReasonCode.MALFORMED, message)


def read_string(document: Document, key: str, path: str = "$") -> str:
    """Return an optional string, normalized; a blank one counts as missing."""
    value = document.get(key)
    if value is None or isinstance(value, str):
        return normalize_text(value or "")
    raise build_malformed_error("must be a string", member_path(path, key))


def read_id(raw: Document, key: str) -> str:
    """Return an ID; its length is limited because responses repeat it."""
    text = read_string(raw, key)
    if len(text) > ID_LIMIT:
        message = f"must have at most {ID_LIMIT} characters"
        raise build_malformed_error(message, member_path("$", key))
    return text


def read_matching(raw: Document, key: str, pattern: Pattern[str] | None) -> str:
    text = read_string(raw, key)
    if text and pattern and not pattern.fullmatch(text):
        raise build_malformed_error(
            f"must match {pattern.pattern}", member_path("$", key)
        )
    return text


def read_required_string(
    raw: Document, key: str, pattern: Pattern[str] | None = None
) -> str:
    if text := read_matching(raw, key, pattern):
        return text
    raise build_malformed_error("must be a non-empty string", member_path("$", key))


def read_unix_timestamp(raw: Document, key: str) -> int | None:
    """Return an optional number of seconds; a float is an error, even if whole."""
    value = raw.get(key)
    if value is None:
        return None
    if type(value) is int and abs(value) <= INT64_MAX:
        return value
    raise build_malformed_error(
        "must be a Unix timestamp in whole seconds", member_path("$", key)
    )


def read_ts(raw: Document) -> int:
    ts = read_unix_timestamp(raw, "ts")
    if ts is None or ts <= 0:
        raise build_malformed_error(
            "must be a Unix timestamp greater than zero", "$.ts"
        )
    return ts


def read_object(raw: Document, key: str) -> Document | None:
    value = raw.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise build_malformed_error("must be an object", member_path("$", key))


def read_body(raw: Document) -> Document:
    body = read_object(raw, "body")
    if body is None:
        raise build_malformed_error("must be an object", "$.body")
    return body
