"""HTTP requests to agents; all of them pass the address guard."""

from .address_guard import has_disallowed_host
from .errors import (
    AuthorizationRequired,
    FetchError,
    FetchFailed,
    FetchTimeout,
    HostNotFound,
    HostUnreachable,
    NoDefinitionAtUrl,
    RequestRefused,
    SessionInterrupted,
    TooBusy,
    UrlNotAllowed,
)
from .exchange import open_response, read_health_response
from .http import (
    BoundedTransport,
    FetchResult,
    check_url,
    create_guarded_client,
    fetch,
    find_authorization_error,
    get_host,
    get_origin,
)
from .refusals import AUTHORIZATION_STATUSES, read_refusal

__all__ = [
    "AUTHORIZATION_STATUSES",
    "AuthorizationRequired",
    "BoundedTransport",
    "FetchError",
    "FetchFailed",
    "FetchResult",
    "FetchTimeout",
    "HostNotFound",
    "HostUnreachable",
    "NoDefinitionAtUrl",
    "RequestRefused",
    "SessionInterrupted",
    "TooBusy",
    "UrlNotAllowed",
    "check_url",
    "create_guarded_client",
    "fetch",
    "find_authorization_error",
    "get_host",
    "get_origin",
    "has_disallowed_host",
    "open_response",
    "read_health_response",
    "read_refusal",
]
