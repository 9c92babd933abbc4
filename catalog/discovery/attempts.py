"""The URLs that are tried for a definition, and what each of them answered."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from capabilities.parsers import ParseError, parsers

from ..outbound import FetchError, HostUnreachable, UrlNotAllowed
from .resolved import ResolvedDefinition

GET = "GET"
# Limits of the list that is shown to people.
ATTEMPT_LIMIT = 40
ATTEMPT_URL_LIMIT = 300
ATTEMPT_RESULT_LIMIT = 300


@dataclass(frozen=True, slots=True)
class UrlAttempt:
    """A URL that was tried: how, and what it answered."""

    url: str
    # "GET", or the protocol in which a running agent was queried.
    method: str
    # The HTTP status, None without a response.
    status: int | None
    result: str

    def __str__(self) -> str:
        return f"{self.method} {self.url}: {self.result}"


@dataclass(slots=True, eq=False)
class Candidate:
    """A URL where the definition may be, and how to get it from there."""

    url: str
    find: Callable[[], Awaitable[ResolvedDefinition]]
    # Seconds after which the next candidate is tried as well.
    wait: float
    # The protocol of the running agent to query, "" to fetch a document.
    protocol: str = ""
    failure: Exception | None = None
    started_at: float = 0

    def to_attempt(self) -> UrlAttempt:
        parser = parsers.get(self.protocol)
        status, result = describe_result(self.failure)
        return UrlAttempt(
            redact_url(self.url)[:ATTEMPT_URL_LIMIT],
            parser.label if parser else GET,
            status,
            result[:ATTEMPT_RESULT_LIMIT],
        )


def redact_url(url: str) -> str:
    """Return the URL without its query, which may contain a secret."""
    parts = urlsplit(url)
    query = "…" if parts.query else ""
    return urlunsplit(parts._replace(query=query, fragment=""))


def describe_result(failure: Exception | None) -> tuple[int | None, str]:
    """Return the HTTP status of a failed attempt, and what the URL answered."""
    if isinstance(failure, FetchError):
        return failure.status, failure.summary
    if isinstance(failure, ParseError):
        return 200, f"200, {describe_parse_error(failure)}"
    return None, "Not finished"


def describe_parse_error(error: ParseError) -> str:
    result = error.result
    parser = parsers.get(result.protocol)
    if parser is None:
        return "not a definition of a supported protocol"
    count = len(result.errors)
    return f"an invalid {parser.label} definition with {count} error(s)"


@dataclass(frozen=True, slots=True)
class FailedSearch:
    """What was tried before an import or refresh failed."""

    attempts: tuple[UrlAttempt, ...] = ()
    # Whether the agent can be registered as a stub, without its definition.
    can_be_stub: bool = False


def set_attempts(
    error: Exception, tried: Iterable[Candidate], *, can_be_stub: bool = False
) -> None:
    """Attach what was tried to the error that is raised for all of it."""
    attempts = tuple(candidate.to_attempt() for candidate in tried)[:ATTEMPT_LIMIT]
    search = FailedSearch(attempts, can_be_stub)
    error.failed_search = search  # type: ignore[attr-defined]  # our attribute


def get_failed_search(error: Exception) -> FailedSearch:
    """Return what was tried before this error of an import or refresh."""
    search: FailedSearch = getattr(error, "failed_search", FailedSearch())
    return search


async def find_first(
    candidates: Iterator[Candidate], tried: list[Candidate]
) -> ResolvedDefinition | None:
    """Try the candidates in order; start the next when one fails or is slow.

    Append each to `tried` when it is started. `candidates` may depend on it.
    """
    running: dict[asyncio.Future[ResolvedDefinition], Candidate] = {}
    try:
        for candidate in candidates:
            tried.append(candidate)
            candidate.started_at = asyncio.get_running_loop().time()
            running[asyncio.ensure_future(candidate.find())] = candidate
            if found := await wait_for_result(running, candidate.wait):
                return found
            if is_unreachable(tried):
                break
        while running:
            if found := await wait_for_result(running):
                return found
    finally:
        for future in running:
            future.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return None


async def wait_for_result(
    running: dict[asyncio.Future[ResolvedDefinition], Candidate],
    delay: float | None = None,
) -> ResolvedDefinition | None:
    """Wait for an attempt to finish, at most `delay` seconds; return its result.

    Return None if no attempt finished, or if those that finished failed. Remove
    finished attempts from `running` and save their failures. Raise an error at once if
    it is unexpected or makes other attempts pointless.
    """
    await asyncio.wait(running, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
    done = {future: running.pop(future) for future in list(running) if future.done()}
    results = await asyncio.gather(*done, return_exceptions=True)
    for candidate, result in zip(done.values(), results, strict=True):
        if isinstance(result, Exception):
            candidate.failure = result
    for result in results:
        is_expected = isinstance(result, FetchError | ParseError)
        # Other candidates are pointless if the address itself is not allowed.
        if isinstance(result, BaseException) and (
            not is_expected or isinstance(result, UrlNotAllowed)
        ):
            raise result
    resolved = (result for result in results if isinstance(result, ResolvedDefinition))
    return next(resolved, None)


def is_unreachable(tried: list[Candidate]) -> bool:
    """Return whether no connection to the host was possible so far."""
    return all(isinstance(candidate.failure, HostUnreachable) for candidate in tried)
