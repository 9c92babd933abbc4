"""The members of an envelope, each read strictly: what is unfit is refused."""

import json
from re import Pattern

from ... import documents
from ...numbers import LARGEST
from ...problems import Document, Problems, Unreadable, member
from .identifiers import trimmed
from .refusals import ReasonCode, TooLarge, malformed, refuse_any

BYTES_LIMIT = 1_048_576
ID_LIMIT = 256


def serialised(envelope: Document) -> bytes:
    """Its bytes on the wire, by which its size is measured."""
    text = json.dumps(
        envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode()


def opened(received: bytes | Document) -> Document:
    """The JSON object itself, strictly read and within the limit."""
    problems = Problems()
    try:
        if isinstance(received, bytes):
            refuse_oversize(len(received))
            raw = documents.read_json(received, problems)
        else:
            raw = documents.checked(received, problems)
    except Unreadable as unreadable:
        problem = unreadable.problem
        raise malformed(problem.message, problem.path) from unreadable
    refuse_any(problems)
    # A member given twice is a warning elsewhere; but nobody could relay both.
    for repeated in problems.warnings:
        raise malformed(repeated.message.partition(";")[0], repeated.path)
    if not isinstance(received, bytes):
        refuse_oversize(measured(raw))
    return raw


def measured(raw: Document) -> int:
    try:
        return len(serialised(raw))
    except (TypeError, ValueError) as error:
        raise malformed(f"is not JSON: {error}") from error


def refuse_oversize(size: int) -> None:
    if size > BYTES_LIMIT:
        message = f"has {size} bytes, over {BYTES_LIMIT}"
        raise TooLarge(ReasonCode.MALFORMED, message)


def read_text(stated: Document, key: str, at: str = "$") -> str:
    """A text that may be missing, trimmed; blank is as good as missing."""
    value = stated.get(key)
    if value is None or isinstance(value, str):
        return trimmed(value or "")
    raise malformed("must be a string", member(at, key))


def read_id(raw: Document, key: str) -> str:
    """One that answers repeat: a long one would be repeated by everybody."""
    text = read_text(raw, key)
    if len(text) > ID_LIMIT:
        raise malformed(f"must be at most {ID_LIMIT} characters", member("$", key))
    return text


def read_matching(raw: Document, key: str, pattern: Pattern[str] | None) -> str:
    text = read_text(raw, key)
    if text and pattern and not pattern.fullmatch(text):
        raise malformed(f"must match {pattern.pattern}", member("$", key))
    return text


def read_required(raw: Document, key: str, pattern: Pattern[str] | None = None) -> str:
    if text := read_matching(raw, key, pattern):
        return text
    raise malformed("must be a non-empty string", member("$", key))


def read_seconds(raw: Document, key: str) -> int | None:
    """Unix seconds of 64 bits; a number with a point is not taken for one."""
    value = raw.get(key)
    if value is None:
        return None
    if type(value) is int and abs(value) <= LARGEST:
        return value
    raise malformed("must be whole Unix seconds", member("$", key))


def read_ts(raw: Document) -> int:
    ts = read_seconds(raw, "ts")
    if ts is None or ts <= 0:
        raise malformed("must be Unix seconds above zero", "$.ts")
    return ts


def read_object(raw: Document, key: str) -> Document | None:
    value = raw.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise malformed("must be an object", member("$", key))


def read_body(raw: Document) -> Document:
    body = read_object(raw, "body")
    if body is None:
        raise malformed("must be an object", "$.body")
    return body
