"""Fetch the extended card of an A2A agent."""

import asyncio

import httpx2

from capabilities.documents import dump_json, read_json
from capabilities.interfaces import DefinitionExtender
from capabilities.problems import Document, Problems, UnreadableDocument
from capabilities.protocols.a2a import (
    ExtendedCardRequest,
    build_extended_card_request,
)

from ...conf import conf
from ...outbound import (
    AUTHORIZATION_STATUSES,
    BoundedTransport,
    FetchFailed,
    FetchTimeout,
    check_url,
    create_guarded_client,
    read_refusal,
)


class A2ACardExtender(DefinitionExtender):
    """Fetches extended cards with the request that the public card implies."""

    slug = "a2a"
    label = "A2A"

    def find_url(self, definition: Document) -> str:
        request = build_extended_card_request(definition)
        return request.url if request else ""

    async def fetch(self, definition: Document, authorization: str) -> bytes:
        request = build_extended_card_request(definition)
        if request is None:
            raise FetchFailed("the card declares no extended card")
        check_url(request.url)
        try:
            async with asyncio.timeout(conf.FETCH_TIMEOUT):
                body = await send_request(request, authorization)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise FetchTimeout("the server did not respond in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
            raise FetchFailed("the request failed") from error
        return extract_card(body) if request.body else body


async def send_request(request: ExtendedCardRequest, authorization: str) -> bytes:
    """Return the body of a successful response; redirects are not followed."""
    headers = {**request.headers, "Authorization": authorization}
    headers["Accept"] = "application/json"
    async with (
        create_guarded_client(BoundedTransport()) as client,
        client.stream(
            request.method, request.url, json=request.body, headers=headers
        ) as response,
    ):
        status = response.status_code
        if status in AUTHORIZATION_STATUSES:
            chunks = response.aiter_raw()
            raise await read_refusal(response.request, response, chunks)
        if status != httpx2.codes.OK:
            raise FetchFailed(f"the server returned HTTP {status}", status=status)
        return await response.aread()


def extract_card(body: bytes) -> bytes:
    """Return the card in a JSON-RPC response; raise FetchFailed without one."""
    try:
        response = read_json(body, Problems())
    except UnreadableDocument as unreadable:
        raise FetchFailed("the server did not send a JSON-RPC response") from unreadable
    card, error = response.get("result"), response.get("error")
    if isinstance(card, dict):
        return dump_json(card)
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int):
        raise FetchFailed(f"the server answered with the JSON-RPC error {code}")
    raise FetchFailed("the server did not send a card")
