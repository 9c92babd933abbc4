"""Detection of credentials, which AGH forbids in envelopes."""

from collections.abc import Iterator
from typing import Any

from ...documents import Keys, json_path
from ...problems import Document
from .errors import build_malformed_error
from .identifiers import normalize_text

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


def reject_credentials(envelope: Document) -> None:
    """Raise EnvelopeError for the first value whose key names a secret."""
    for key in FREE_FORM_MEMBERS:
        keys = next(find_credentials(envelope.get(key), (key,)), None)
        if keys is not None:
            message = "looks like a credential; envelopes must not contain credentials"
            raise build_malformed_error(message, json_path(keys))


def find_credentials(value: Any, keys: Keys) -> Iterator[Keys]:
    """Yield the keys of each non-empty value whose name is that of a secret.

    `keys` are those of the value itself.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_credentials(item, (*keys, index))
    elif isinstance(value, dict):
        for key, member in value.items():
            if is_secret_key(key) and has_value(member):
                yield (*keys, key)
            yield from find_credentials(member, (*keys, key))


def is_secret_key(key: str) -> bool:
    return normalize_text(key).lower().translate(SEPARATORS) in SECRET_KEYS


def has_value(value: Any) -> bool:
    if isinstance(value, str):
        return bool(normalize_text(value))
    return value not in (None, [], {})
