"""Why no definition was found, in one message."""

from capabilities.parsers import ParseError, Parser

from ..conf import conf
from ..outbound import (
    AuthorizationRequired,
    FetchError,
    FetchFailed,
    FetchTimeout,
    NoDefinitionAtUrl,
    RequestRefused,
    SessionInterrupted,
    get_host,
)
from .attempts import Candidate

# Shown as the problem of an entry whose definition is not known yet.
STUB_REASON = "Its definition needs authorization: only its address is known"


def add_timeouts(tried: list[Candidate], now: float) -> None:
    """Set the failure of the attempts that had not finished in time."""
    for candidate in tried:
        if candidate.failure is None:
            seconds = max(0.1, now - candidate.started_at)
            candidate.failure = FetchTimeout(
                f"No definition was found within {conf.FETCH_TIMEOUT:g} s",
                summary=f"Timed out after {seconds:.2g} s",
            )


def choose_failure(tried: list[Candidate], url: str) -> Exception:
    """Return the most informative failure, or how many URLs have nothing."""
    failures = [candidate.failure for candidate in tried if candidate.failure]
    if not failures:
        return FetchFailed("There is no URL to fetch the definition from")
    failure = max(failures, key=severity)
    count = len({candidate.url for candidate in tried})
    if type(failure) is NoDefinitionAtUrl and count > 1:
        return NoDefinitionAtUrl(
            f"No agent definition found at {get_host(url)}: {count} URLs were tried"
        )
    return failure


def severity(error: Exception) -> int:
    """Return how informative a failure is: an invalid card ranks highest.

    A URL without a definition ranks lowest, because others are usually tried too.
    """
    if isinstance(error, ParseError):
        return 4 + bool(error.result.protocol) + bool(error.result.record)
    if isinstance(error, AuthorizationRequired | SessionInterrupted):
        return 3
    if isinstance(error, RequestRefused):
        return 2
    return 0 if isinstance(error, NoDefinitionAtUrl) else 1


def add_hint(failure: Exception, parser: Parser | None) -> Exception:
    """Return the failure with the protocol's hint on what to do about it."""
    policy = parser.endpoint_policy if parser else None
    hint = policy.missing_definition_hint if policy else ""
    is_generic = type(failure) in (FetchFailed, NoDefinitionAtUrl)
    return FetchFailed(f"{failure}. {hint}") if hint and is_generic else failure


def describe_failure(error: FetchError) -> str:
    """Return why a running agent could not be introspected."""
    if isinstance(error, AuthorizationRequired):
        return "the server requires authorization"
    if isinstance(error, RequestRefused):
        return f"the server {error.summary}"
    return f"the server could not be introspected ({error})"
