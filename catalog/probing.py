"""The one probe: asks an agent, in its protocol's own words, whether it lives."""

import asyncio
import time
from dataclasses import dataclass

import httpx2
from django.conf import settings
from django.utils import timezone

from capabilities.asking import Ask
from capabilities.parsers import parsers

from .fetch import REDIRECT_LIMIT, FetchError, check_url, guarded_client
from .health import Probe
from .models import CatalogEntry

# Answers, beside success, that only a living server gives.
ALIVE = {401, 403, 405, 406, 429}


@dataclass(frozen=True, slots=True)
class Target:
    protocol: str
    endpoint: str
    definition_url: str = ""


def target_of(entry: CatalogEntry) -> Target:
    agent_type = entry.agent_type
    return Target(agent_type.protocol, agent_type.endpoint, entry.source_url)


async def probe(target: Target) -> Probe:
    """Ask in turn until an answer shows life; tell the last reason when none does."""
    at = timezone.now()
    parser = parsers.get(target.protocol)
    asks = parser.asks(target.endpoint, target.definition_url) if parser else []
    error = "Nothing to ask"
    seconds = settings.AGENTLENS_PROBE_TIMEOUT
    try:
        async with asyncio.timeout(seconds), guarded_client() as client:
            for ask in asks:
                latency_ms, error = await attempt(client, ask)
                if not error:
                    return Probe(at, latency_ms)
    except TimeoutError:
        error = f"Timed out after {seconds:g} s"
    return Probe(at, error=error)


async def attempt(client: httpx2.AsyncClient, ask: Ask) -> tuple[int, str]:
    """How long the answer took, and what was wrong with it."""
    started = time.perf_counter()
    try:
        status = await status_of(client, ask)
    except FetchError as refusal:
        return 0, str(refusal)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as failure:
        return 0, in_words(failure)
    latency_ms = round((time.perf_counter() - started) * 1000)
    lives = httpx2.codes.is_success(status) or status in ALIVE
    return latency_ms, "" if lives else f"HTTP {status}"


async def status_of(client: httpx2.AsyncClient, ask: Ask) -> int:
    """The status where the redirects end; no body is read."""
    request = client.build_request(
        ask.method, ask.url, json=ask.body, headers=ask.headers
    )
    for _ in range(REDIRECT_LIMIT + 1):
        check_url(str(request.url))
        response = await client.send(request, stream=True)
        await response.aclose()
        if response.next_request is None:
            return response.status_code
        request = response.next_request
    raise FetchError(f"Redirects more than {REDIRECT_LIMIT} times")


def in_words(failure: Exception) -> str:
    if isinstance(failure, httpx2.TimeoutException):
        return "Timed out"
    if isinstance(failure, httpx2.ConnectError):
        return "Connection refused or unreachable"
    return "Does not answer in proper HTTP"
