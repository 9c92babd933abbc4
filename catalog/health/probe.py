"""The one probe: asks an agent, in its protocol's own words, whether it lives."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx2
from django.utils import timezone

from capabilities.health_requests import Ask
from capabilities.parsers import parsers

from ..conf import conf
from ..metrics import PROBE_SECONDS, PROBES
from ..models import CatalogEntry
from ..outbound import (
    REDIRECT_LIMIT,
    FetchError,
    NoAddress,
    check_url,
    guarded_client,
    host_of,
)
from .status import Probe

# Answers, beside success, that only a living server gives.
ALIVE = {401, 403, 405, 406, 429}
# Answers that only say that nothing is kept at this place.
EMPTY = {404, 410}
# As many seconds as taking leave may cost.
FAREWELL = 1.0


@dataclass(frozen=True, slots=True)
class Target:
    protocol: str
    endpoint: str
    definition_url: str = ""
    # Where it wants to be asked instead, if somebody said so.
    health_url: str = ""
    # When it last announced itself, if that is how it shows that it lives.
    last_heard: datetime | None = None

    @property
    def host(self) -> str:
        """Whom to ask, which need not be where the agent is."""
        first = next(iter(self.asks()), None)
        return host_of(first.url) if first else ""

    def asks(self) -> list[Ask]:
        if self.health_url:
            return [Ask(self.health_url)]
        parser = parsers.get(self.protocol)
        return parser.asks(self.endpoint, self.definition_url) if parser else []


def target_of(entry: CatalogEntry) -> Target:
    agent_type = entry.agent_type
    return Target(
        agent_type.protocol,
        agent_type.endpoint,
        entry.source_url,
        last_heard=entry.last_success_at,
    )


async def probe_target(target: Target) -> Probe:
    """Ask an agent, and count the asking."""
    parser = parsers.get(target.protocol)
    policy = parser.presence_policy if parser else None
    if policy and not target.health_url:
        outcome = heard(target, policy.timeout)
    else:
        outcome = await asked(target)
    word = "answered" if outcome.ok else "failed"
    PROBES.labels(target.protocol, word).inc()
    if outcome.latency_ms is not None:
        PROBE_SECONDS.labels(target.protocol).observe(outcome.latency_ms / 1000)
    return outcome


def heard(target: Target, presence: float) -> Probe:
    """Nobody is asked: it lives as long as it says so often enough."""
    at, last = timezone.now(), target.last_heard
    if last is None:
        return Probe(at, error="Has never been heard")
    until = last + timedelta(seconds=presence)
    if at < until:
        return Probe(at, heard_at=last, holds_until=until)
    silence = (at - last).total_seconds()
    return Probe(at, error=f"Has not been heard for {silence:.0f} s")


async def asked(target: Target) -> Probe:
    """Ask in turn until an answer shows life; tell the last reason when none does."""
    at = timezone.now()
    seconds = conf.PROBE_TIMEOUT
    answers: list[Answer] = []
    async with guarded_client() as client:
        try:
            async with asyncio.timeout(seconds):
                await attempts(client, target, answers)
        except TimeoutError:
            answers.append(Answer(f"Timed out after {seconds:g} s"))
        for answer in answers:
            await close_session(client, answer)
    if answers and not answers[-1].error:
        return Probe(at, answers[-1].latency_ms)
    told = max(reversed(answers), key=telling, default=Answer("Nothing to ask"))
    return Probe(at, error=told.error)


async def attempts(
    client: httpx2.AsyncClient, target: Target, answers: list["Answer"]
) -> None:
    for ask in target.asks():
        if ask.after and answers and answers[-1].status not in ask.after:
            return
        answers.append(await attempt(client, ask))
        if not answers[-1].error:
            return


@dataclass(frozen=True, slots=True)
class Answer:
    """One attempt: what was wrong with it, how long it took, and its status if any."""

    error: str = ""
    latency_ms: int = 0
    status: int = 0
    # How to take leave of one who opened a session for us.
    farewell: httpx2.Request | None = None


def telling(answer: Answer) -> bool:
    """That a server fails says more than that a place of several is empty."""
    return answer.status not in EMPTY


async def attempt(client: httpx2.AsyncClient, ask: Ask) -> Answer:
    started = time.perf_counter()
    try:
        response = await headers_of(client, ask)
    except FetchError as refusal:
        return Answer(str(refusal))
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as failure:
        return Answer(in_words(failure))
    latency_ms = round((time.perf_counter() - started) * 1000)
    status = response.status_code
    lives = response.is_success or status in ALIVE
    error = "" if lives else f"HTTP {status}"
    return Answer(error, latency_ms, status, leave(client, ask, response))


async def headers_of(client: httpx2.AsyncClient, ask: Ask) -> httpx2.Response:
    """The answer where the redirects end; no body is read."""
    request = client.build_request(
        ask.method, ask.url, json=ask.body, headers=ask.headers
    )
    for _ in range(REDIRECT_LIMIT + 1):
        check_url(str(request.url))
        response = await client.send(request, stream=True)
        await response.aclose()
        if response.next_request is None:
            return response
        request = response.next_request
    raise FetchError(f"Redirects more than {REDIRECT_LIMIT} times")


def leave(
    client: httpx2.AsyncClient, ask: Ask, response: httpx2.Response
) -> httpx2.Request | None:
    """We only wanted to know; the server need not remember us."""
    key = response.headers.get(ask.session) if ask.session else None
    if key is None:
        return None
    headers = ask.headers | {ask.session: key}
    return client.build_request("DELETE", response.url, headers=headers)


async def close_session(client: httpx2.AsyncClient, answer: Answer) -> None:
    """How it takes leave says nothing of how it is, nor how long that takes."""
    if answer.farewell is None:
        return
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, FetchError, OSError):
        async with asyncio.timeout(FAREWELL):
            await (await client.send(answer.farewell, stream=True)).aclose()


def causes(failure: BaseException | None) -> Iterator[BaseException]:
    """The failure, and what lies behind it."""
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


def in_words(failure: Exception) -> str:
    if isinstance(failure, httpx2.TimeoutException):
        return "Timed out"
    if any(isinstance(cause, ssl.SSLError) for cause in causes(failure)):
        return "Its TLS certificate or handshake is not right"
    if any(isinstance(cause, NoAddress) for cause in causes(failure)):
        return "Nobody knows its host by that name"
    if isinstance(failure, httpx2.ConnectError):
        return "Connection refused or unreachable"
    return "Does not answer in proper HTTP"
