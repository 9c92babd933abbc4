"""The guarded way out: the only code that opens a connection to an agent."""

from .address_guard import plainly_private
from .errors import (
    AuthorizationNeeded,
    ConversationInterrupted,
    FetchError,
    FetchFailed,
    FetchTimeout,
    NoAddress,
    NothingThere,
    TooBusy,
    UrlNotAllowed,
)
from .http import (
    CLOSED,
    REDIRECT_LIMIT,
    BoundedTransport,
    Fetched,
    authorization_fault,
    check_url,
    fetch,
    guarded_client,
    host_of,
    origin_of,
)

__all__ = [
    "CLOSED",
    "REDIRECT_LIMIT",
    "AuthorizationNeeded",
    "BoundedTransport",
    "ConversationInterrupted",
    "FetchError",
    "FetchFailed",
    "FetchTimeout",
    "Fetched",
    "NoAddress",
    "NothingThere",
    "TooBusy",
    "UrlNotAllowed",
    "authorization_fault",
    "check_url",
    "fetch",
    "guarded_client",
    "host_of",
    "origin_of",
    "plainly_private",
]
