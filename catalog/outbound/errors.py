"""The reasons why a request to an agent failed."""

import httpcore2


class FetchError(Exception):
    """The resource could not be fetched."""


class UrlNotAllowed(FetchError):
    """The URL is not an http(s) URL, or its host is neither public nor allowed."""


class FetchFailed(FetchError):
    """The server could not be reached, refused the request or sent a bad response."""


class NoDefinitionAtUrl(FetchFailed):
    """The server works, but has nothing at this URL."""


class AuthorizationRequired(FetchFailed):
    """The server works, but requires authorization."""


class SessionInterrupted(FetchFailed):
    """The server began to respond in its protocol, but did not finish."""


class FetchTimeout(FetchError):
    """The server did not respond in time."""


class HostNotFound(httpcore2.ConnectError):
    """The host name has no IP address."""


class TooBusy(FetchError):
    """The request was not sent: too many others are running, or one was just sent."""

    # Seconds until a retry makes sense.
    wait: float = 1
