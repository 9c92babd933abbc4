"""Redirects that are followed and rejected."""

import pytest

from catalog.outbound.errors import FetchError, FetchFailed, UrlNotAllowed
from catalog.outbound.http import fetch
from tests.servers import parse_networks, redirect, reply, run_server


async def test_three_redirects_are_followed_and_requested_url_is_returned(server):
    for n, status in enumerate([301, 302, 307]):
        server.routes[f"/{n}"] = redirect(f"/{n + 1}", status)
    server.routes["/3"] = reply(body=b"there")

    fetched = await fetch(server.url("/0"))
    assert (fetched.body, fetched.url) == (b"there", server.url("/0"))


async def test_four_redirects_are_rejected(server):
    for n in range(4):
        server.routes[f"/{n}"] = redirect(f"/{n + 1}", 308)
    server.routes["/4"] = reply(body=b"there")

    with pytest.raises(FetchFailed, match="redirects more than 3 times"):
        await fetch(server.url("/0"))
    assert server.paths == ["/0", "/1", "/2", "/3"]


async def test_redirect_loop_is_rejected(server):
    server.routes["/"] = redirect("/", 303)

    with pytest.raises(FetchFailed, match="redirects"):
        await fetch(server.url("/"))
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("../d?e=f#g", "/a/d?e=f"),
        ("/x", "/x"),
        ("?q", "/a/b/c?q"),
        ("d e", "/a/b/d%20e"),
    ],
)
async def test_relative_redirect_is_resolved_against_its_url(location, target, server):
    server.routes["/a/b/c"] = redirect(location)
    server.routes[target] = reply(body=b"there")

    assert (await fetch(server.url("/a/b/c"))).body == b"there"


@pytest.mark.parametrize("hops", [0, 1, 2])
async def test_redirect_to_private_address_is_rejected(hops, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("127.0.0.1/32")
    with run_server("127.0.0.2") as private:
        for n in range(hops):
            server.routes[f"/{n}"] = redirect(f"/{n + 1}")
        server.routes[f"/{hops}"] = redirect(private.url("/"))
        with pytest.raises(UrlNotAllowed, match=r"127.0.0.2 is not a public host"):
            await fetch(server.url("/0"))

    assert private.requests == []
    assert len(server.requests) == hops + 1


@pytest.mark.parametrize(
    "location",
    [
        "javascript:alert(1)",
        "javascript://127.0.0.1/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "data:application/json,{}",
        "http://user:word@127.0.0.1/",
        "http://metadata.google.internal/",
        "http://axn--/",
        ":no://",
    ],
)
async def test_redirect_to_disallowed_url_is_rejected(location, server):
    server.routes["/"] = redirect(location)

    with pytest.raises(UrlNotAllowed):
        await fetch(server.url("/"))


@pytest.mark.parametrize(
    "location",
    ["http://[::1", "http://a]b/", "http://127.0.0.1:port/", "http://\xe9\xff/", "//%"],
)
async def test_redirect_to_malformed_url_raises_fetch_error(location, server):
    server.routes["/"] = redirect(location)

    with pytest.raises(FetchError):
        await fetch(server.url("/"))
