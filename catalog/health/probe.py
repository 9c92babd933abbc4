"""The health probe: sends the health requests of an agent's protocol."""

import asyncio
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

import httpx2
from django.utils import timezone

from capabilities.health_requests import Expectation, HealthRequest
from capabilities.parsers import parsers

from ..conf import conf
from ..metrics import PROBE_SECONDS, PROBES
from ..models import CatalogEntry
from ..outbound import (
    FetchError,
    HostNotFound,
    create_guarded_client,
    get_host,
    open_response,
    read_health_response,
)
from .status import ProbeOutcome

# Status codes other than 2xx that show a working server.
ALIVE_STATUSES = {401, 403, 405, 406, 429}
# Status codes that only show that this URL does not exist.
NOT_FOUND_STATUSES = {404, 410}
# What a failed request is reported as, by the class of its error.
MESSAGES = (
    (httpx2.ConnectError, "The connection was refused or the host is unreachable"),
    (httpx2.ProtocolError, "The response is not valid HTTP"),
    ((httpx2.InvalidURL, ValueError), "The URL is not valid"),
)


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """What to probe: an agent's protocol and URLs."""

    protocol: str
    endpoint: str
    definition_url: str = ""
    # Probed instead of the protocol's health requests, when set.
    health_url: str = ""
    # When the agent last announced itself, for protocols in which agents do.
    last_announced_at: datetime | None = None
    # The health request that succeeded last; "" if none is remembered.
    probe_method: str = ""

    @classmethod
    def from_entry(cls, entry: CatalogEntry) -> Self:
        agent_type = entry.agent_type
        return cls(
            agent_type.protocol,
            agent_type.endpoint,
            entry.source_url,
            last_announced_at=entry.last_success_at,
            probe_method=entry.probe_method,
        )

    @property
    def host(self) -> str:
        """The host of the first health request; may differ from the endpoint's."""
        first = next(iter(self.health_requests()), None)
        return get_host(first.url) if first else ""

    def health_requests(self) -> list[HealthRequest]:
        """Return the requests to try in order, the remembered one first."""
        if self.health_url:
            return [HealthRequest(self.health_url)]
        parser = parsers.get(self.protocol)
        if parser is None:
            return []
        requests = parser.health_requests(self.endpoint, self.definition_url)
        return sorted(requests, key=lambda item: item.probe_method != self.probe_method)


async def run_probe(target: ProbeTarget) -> ProbeOutcome:
    """Probe an agent and count the probe in the metrics."""
    parser = parsers.get(target.protocol)
    policy = parser.presence_policy if parser else None
    if policy and not target.health_url:
        outcome = probe_by_presence(target, policy.timeout)
    else:
        outcome = await probe_by_request(target)
    PROBES.labels(target.protocol, "answered" if outcome.ok else "failed").inc()
    if outcome.latency_ms is not None:
        PROBE_SECONDS.labels(target.protocol).observe(outcome.latency_ms / 1000)
    return outcome


def probe_by_presence(target: ProbeTarget, timeout: float) -> ProbeOutcome:
    """Succeed if the agent's last announcement is not older than `timeout` seconds."""
    now, announced_at = timezone.now(), target.last_announced_at
    if announced_at is None:
        return ProbeOutcome(now, error="The agent has never announced itself")
    valid_until = announced_at + timedelta(seconds=timeout)
    if now < valid_until:
        return ProbeOutcome(now, announced_at=announced_at, valid_until=valid_until)
    age = (now - announced_at).total_seconds()
    return ProbeOutcome(now, error=f"The last announcement was {age:.0f} s ago")


async def probe_by_request(target: ProbeTarget) -> ProbeOutcome:
    """Send the health requests in order until one succeeds.

    If all fail, report the latest error other than 404 and 410, which only show that
    a URL does not exist. Without any other error, report the latest of these.
    """
    started_at = timezone.now()
    seconds = conf.PROBE_TIMEOUT
    attempts: list[Attempt] = []
    async with create_guarded_client() as client:
        try:
            async with asyncio.timeout(seconds):
                await send_requests(client, target, attempts)
        except TimeoutError:
            attempts.append(Attempt(f"Timed out after {seconds:g} s"))
    if attempts and not attempts[-1].error:
        last = attempts[-1]
        return ProbeOutcome(started_at, last.latency_ms, probe_method=last.probe_method)
    no_attempt = Attempt("The agent has no URL to probe")
    reported = max(reversed(attempts), key=is_informative, default=no_attempt)
    return ProbeOutcome(started_at, error=reported.error)


async def send_requests(
    client: httpx2.AsyncClient, target: ProbeTarget, attempts: list["Attempt"]
) -> None:
    """Append an attempt for each finished request.

    The list is an argument, so that the caller has the attempts after a timeout.
    """
    for health_request in target.health_requests():
        required = health_request.only_after_statuses
        if required and attempts and attempts[-1].status not in required:
            continue
        attempts.append(await send_request(client, health_request))
        if not attempts[-1].error:
            return


@dataclass(frozen=True, slots=True)
class Attempt:
    """One health request: its error, its latency, and its HTTP status (0 if none)."""

    error: str = ""
    latency_ms: int = 0
    status: int = 0
    probe_method: str = ""


def is_informative(attempt: Attempt) -> bool:
    """Return whether the failure says more than that the URL does not exist."""
    return attempt.status not in NOT_FOUND_STATUSES


async def send_request(
    client: httpx2.AsyncClient, health_request: HealthRequest
) -> Attempt:
    started = time.perf_counter()
    try:
        async with open_response(client, health_request) as response:
            latency_ms = round((time.perf_counter() - started) * 1000)
            error_text = await find_response_error(response, health_request.expectation)
    except FetchError as error:
        return Attempt(str(error))
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
        return Attempt(describe_error(error))
    return Attempt(
        error_text, latency_ms, response.status_code, health_request.probe_method
    )


async def find_response_error(
    response: httpx2.Response, expectation: Expectation | None
) -> str:
    """Return why the response does not show a running agent, or ""."""
    status = response.status_code
    checked_statuses = expectation.statuses if expectation else ()
    is_checked = response.is_success or status in checked_statuses
    if expectation is None or not is_checked:
        is_alive = response.is_success or status in ALIVE_STATUSES
        return "" if is_alive else f"HTTP {status}"
    answer = await read_health_response(response, needs_body=expectation.needs_body)
    mismatch = expectation.find_mismatch(answer)
    if not mismatch:
        return ""
    return (
        f"Answered {status} with {mismatch}"
        if response.is_success
        else f"HTTP {status}"
    )


def iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and the chain of errors that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def describe_error(error: Exception) -> str:
    """Return a message that quotes nothing the server sent."""
    if isinstance(error, httpx2.TimeoutException):
        return "Timed out"
    if any(isinstance(cause, ssl.SSLError) for cause in iter_causes(error)):
        return "TLS handshake or certificate verification failed"
    if any(isinstance(cause, HostNotFound) for cause in iter_causes(error)):
        return "DNS lookup failed"
    messages = (
        message for error_class, message in MESSAGES if isinstance(error, error_class)
    )
    return next(messages, "The connection failed")
