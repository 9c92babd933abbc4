"""HTTP requests to agents; all of them pass the address guard."""

from .address_guard import has_disallowed_host
from .errors import (
    AuthorizationRequired,
    FetchError,
    FetchFailed,
    FetchTimeout,
    HostNotFound,
    NoDefinitionAtUrl,
    SessionInterrupted,
    TooBusy,
    UrlNotAllowed,
)
from .http import (
    AUTHORIZATION_STATUSES,
    REDIRECT_LIMIT,
    BoundedTransport,
    FetchResult,
    authorization_error,
    check_url,
    fetch,
    get_host,
    get_origin,
    guarded_client,
)

__all__ = [
    "AUTHORIZATION_STATUSES",
    "REDIRECT_LIMIT",
    "AuthorizationRequired",
    "BoundedTransport",
    "FetchError",
    "FetchFailed",
    "FetchResult",
    "FetchTimeout",
    "HostNotFound",
    "NoDefinitionAtUrl",
    "SessionInterrupted",
    "TooBusy",
    "UrlNotAllowed",
    "authorization_error",
    "check_url",
    "fetch",
    "get_host",
    "get_origin",
    "guarded_client",
    "has_disallowed_host",
]
