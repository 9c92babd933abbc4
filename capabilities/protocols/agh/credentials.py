"""What looks like a credential, and therefore travels in no envelope."""

from collections.abc import Iterator
from typing import Any

from ...documents import place
from ...problems import Document
from .identifiers import trimmed
from .refusals import malformed

# Where peers may put things of their own.
OPEN_MEMBERS = ("body", "proof", "ext")
# Lowercase and without `_`, `-` and `.`.
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

Steps = tuple[str | int, ...]


def refuse_credentials(envelope: Document) -> None:
    """Refuse an envelope for the first value under a key that names a secret."""
    for key in OPEN_MEMBERS:
        for steps in credentials(envelope.get(key), (key,)):
            raise malformed("looks like a secret, and is not taken", place(steps))


def credentials(value: Any, steps: Steps) -> Iterator[Steps]:
    """Where values stand that are not empty, and whose key names a secret."""
    if isinstance(value, list):
        for n, item in enumerate(value):
            yield from credentials(item, (*steps, n))
    elif isinstance(value, dict):
        for key, item in value.items():
            if names_secret(key) and says_something(item):
                yield (*steps, key)
            yield from credentials(item, (*steps, key))


def names_secret(key: str) -> bool:
    return trimmed(key).lower().translate(SEPARATORS) in SECRET_KEYS


def says_something(value: Any) -> bool:
    if isinstance(value, str):
        return bool(trimmed(value))
    return value not in (None, [], {})
