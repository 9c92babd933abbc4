"""The reasons why a request to an agent failed."""

import httpcore2


class FetchError(Exception):
    """The resource could not be fetched.

    `status` is the HTTP status of the response, None without a response. `summary` is
    the reason without the host, for lists of failures; the message if it is "".
    """

    def __init__(
        self, message: str = "", *, status: int | None = None, summary: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.summary = summary or message


class UrlNotAllowed(FetchError):
    """The URL is not an http(s) URL, or its host is neither public nor allowed."""


class FetchFailed(FetchError):
    """The server could not be reached, refused the request or sent a bad response."""


class HostUnreachable(FetchFailed):
    """No connection to the server was possible."""


class NoDefinitionAtUrl(FetchFailed):
    """The server works, but has nothing at this URL."""


class RequestRefused(FetchFailed):
    """The server works, but refuses the request, whatever the reason."""


class AuthorizationRequired(RequestRefused):
    """The server works, but requires authorization.

    `challenge` is its `WWW-Authenticate` header.
    """

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        summary: str = "",
        challenge: str = "",
    ) -> None:
        super().__init__(message, status=status, summary=summary)
        self.challenge = challenge


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
