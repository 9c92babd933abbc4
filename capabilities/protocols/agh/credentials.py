"""Detection of credentials, which AGH forbids in envelopes."""

from collections.abc import Iterator
from typing import Any

from ...documents import json_path
from ...problems import Document
from .errors import build_malformed_error
from .identifiers import trim

# The envelope members in which peers may put data of their own.
FREE_FORM_MEMBERS = ("body", "proof", "ext")
# Lowercase, without `_`, `-` and `.`.
SECRET_KEYS = {
    "accesstoken",
    "apikey",
    "authorization",
    "authorizationcode",
    "claimtoken",
    "clientsecret",
    "codeverifier",
    "mcpauthtoken",
    "oauthcode",
    "password",
    "pkceverifier",
    "refreshtoken",
    "secret",
    "secretbinding",
    "token",
}
SEPARATORS = str.maketrans("", "", "_-.")

MemberPath = tuple[str | int, ...]


def reject_credentials(envelope: Document) -> None:
    """Raise EnvelopeError for the first value whose key names a secret."""
    for key in FREE_FORM_MEMBERS:
        for path in find_credentials(envelope.get(key), (key,)):
            message = "looks like a credential; envelopes must not contain credentials"
            raise build_malformed_error(message, json_path(path))


def find_credentials(value: Any, path: MemberPath) -> Iterator[MemberPath]:
    """Yield the path of each non-empty value whose key names a secret."""
    if isinstance(value, list):
        for n, item in enumerate(value):
            yield from find_credentials(item, (*path, n))
    elif isinstance(value, dict):
        for key, item in value.items():
            if is_secret_key(key) and has_value(item):
                yield (*path, key)
            yield from find_credentials(item, (*path, key))


def is_secret_key(key: str) -> bool:
    return trim(key).lower().translate(SEPARATORS) in SECRET_KEYS


def has_value(value: Any) -> bool:
    if isinstance(value, str):
        return bool(trim(value))
    return value not in (None, [], {})
