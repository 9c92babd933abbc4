"""Responses with status 401 and 403."""

import json

import pytest

from catalog.outbound.errors import AuthorizationRequired, RequestRefused
from catalog.outbound.http import fetch
from catalog.outbound.refusals import QUOTE_LIMIT
from tests.servers import (
    gzip_reply,
    never_respond,
    reply,
    response_head,
    send_endless_body,
)

HOST_CHECK = b"Access is only allowed at localhost:8931"


async def get_refusal(server, route, path="/", **options):
    server.routes[path] = route
    with pytest.raises(RequestRefused) as raised:
        await fetch(server.url(path), **options)
    return raised.value


async def test_403_of_host_check_is_not_reported_as_authorization_t16(server):
    refusal = await get_refusal(server, reply(403, HOST_CHECK))

    assert type(refusal) is RequestRefused
    expected = "127.0.0.1 refused the request (HTTP 403): " + HOST_CHECK.decode()
    assert str(refusal) == expected


@pytest.mark.parametrize(
    "route",
    [reply(401), reply(403, www_authenticate='Bearer realm="x"')],
    ids=["401", "403"],
)
async def test_401_and_403_with_challenge_require_authorization(server, route):
    refusal = await get_refusal(server, route)

    assert isinstance(refusal, AuthorizationRequired)
    assert str(refusal).endswith(": authorization is required")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html><body>Forbidden</body></html>", ""),
        (b"", ""),
        (b"[1]", ""),
        (b"{", ""),
        (b'{"error": 5}', ""),
        (b"\xff\xfe\x00", ""),
        (b'{"error": "Invalid Host"}', "Invalid Host"),
        (b'{"error": {"code": -32000, "message": "Invalid Host"}}', "Invalid Host"),
        (b"No.\r\nSet-Cookie: a", "No"),
        ("a\x1b[31m\x07b\u202e\u200bc".encode(), "a[31mbc"),
        (b"\n\n  Not\there  \n", "Nothere"),
        (json.dumps({"error": "a\nb"}).encode(), "a"),
        (b"x" * 500, "x" * (QUOTE_LIMIT - 1) + "…"),
    ],
)
async def test_reason_of_refusal_is_one_short_printable_line(server, body, reason):
    refusal = await get_refusal(server, reply(403, body))

    expected = "refused the request (HTTP 403)" + (f": {reason}" if reason else "")
    assert refusal.summary == expected


@pytest.mark.parametrize(
    "body", [never_respond, send_endless_body], ids=["silent", "endless"]
)
async def test_body_of_refusal_is_read_in_part_only(server, body):
    def route(request):
        yield response_head(403)
        yield b"Go away\n"
        yield from body(request)

    refusal = await get_refusal(server, route)

    assert refusal.summary == "refused the request (HTTP 403): Go away"


async def test_compressed_refusal_is_not_quoted(server):
    route = gzip_reply(HOST_CHECK).replace(b"200", b"403", 1)

    refusal = await get_refusal(server, route)

    assert refusal.summary == "refused the request (HTTP 403)"


async def test_refusal_that_may_repeat_a_secret_is_not_quoted(server):
    by_header = await get_refusal(
        server, reply(403, b"Bad Bearer sesame"), authorization="Bearer sesame"
    )
    by_query = await get_refusal(server, reply(403, b"Bad key"), "/?api_key=sesame")

    assert by_header.summary == by_query.summary == "refused the request (HTTP 403)"
