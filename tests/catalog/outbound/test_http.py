"""Statuses, timeouts, DNS, caching and TLS of outbound requests."""

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest

from catalog.outbound import http as http_module
from catalog.outbound.errors import FetchError, FetchFailed, FetchTimeout
from catalog.outbound.http import fetch
from tests.servers import (
    MEGABYTE,
    create_certificate,
    gzip_reply,
    never_respond,
    redirect,
    reply,
    response_head,
    run_server,
    send_partial_body,
    send_slow_body,
)

REAL_GETADDRINFO = socket.getaddrinfo


@pytest.mark.parametrize("status", [201, 204, 300, 302, 304, 400, 401, 404, 410, 500])
async def test_status_other_than_200_is_reported(status, server):
    server.routes["/"] = reply(status)

    with pytest.raises(FetchFailed, match=f"127.0.0.1 returned HTTP {status}"):
        await fetch(server.url("/"))


async def test_rejected_connection_raises_fetch_failed(server):
    with run_server() as stopped_server:
        url = stopped_server.url("/")

    with pytest.raises(FetchFailed, match=r"Could not fetch from 127\.0\.0\.1"):
        await fetch(url)


async def test_unknown_host_raises_dns_error(server):
    with pytest.raises(FetchFailed, match=r"nowhere.example: DNS lookup failed"):
        await fetch("http://nowhere.example/")


@pytest.mark.parametrize("host", ["a..example", f"{'a' * 64}.example"])
async def test_invalid_host_name_raises_dns_error(host, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", REAL_GETADDRINFO)
    with pytest.raises(FetchFailed, match="DNS lookup failed"):
        await fetch(f"http://{host}/")


INVALID_HTTP_RESPONSES = {
    "empty": b"",
    "other-protocol": b"SSH-2.0-secret\r\n",
    "no-header": b"HTTP/1.1 200 OK\r\nsecret\r\n\r\n",
    "endless-header": b"HTTP/1.1 200 OK\r\nSecret: " + b"a" * 200_000,
    "length-out-of-range": response_head(content_length="9" * 30),
    "truncated-body": response_head(content_length=10) + b"short",
    "invalid-chunk": response_head(transfer_encoding="chunked") + b"secret\r\n",
}


@pytest.mark.parametrize(
    "response", INVALID_HTTP_RESPONSES.values(), ids=INVALID_HTTP_RESPONSES
)
async def test_invalid_http_response_is_not_quoted_in_error(response, server):
    server.routes["/"] = response

    with pytest.raises(FetchFailed) as caught:
        await fetch(server.url("/"))
    assert str(caught.value) == "127.0.0.1 did not send a valid HTTP response"


@pytest.mark.parametrize("route", [never_respond, send_slow_body, send_partial_body])
async def test_slow_response_times_out(route, server, short_timeout):
    server.routes["/"] = route

    with pytest.raises(FetchTimeout, match=r"127.0.0.1 did not respond within 0.3 s"):
        await fetch(server.url("/"))


async def test_timeout_includes_redirects(server, short_timeout):
    def redirect_after_delay(request):
        time.sleep(0.2)
        yield redirect(request.path + "x")

    server.routes = {"/" + "x" * n: redirect_after_delay for n in range(4)}
    with pytest.raises(FetchTimeout):
        await fetch(server.url("/"))


async def test_timeout_includes_dns_lookup(monkeypatch, settings, short_timeout):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: time.sleep(1))

    with pytest.raises(FetchTimeout):
        await fetch("http://agent.example/")


def test_process_exits_during_slow_dns_lookup():
    script = """
import asyncio, socket, time, django
django.setup()
from django.conf import settings
from catalog.outbound import FetchTimeout, fetch
settings.AGENTLENS_FETCH_TIMEOUT = 0.2
socket.getaddrinfo = lambda *_: time.sleep(60)
try:
    asyncio.run(fetch("http://agent.example/"))
except FetchTimeout:
    print("timed out")
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "agentlens.settings"}
    command = [sys.executable, "-c", script]
    process = subprocess.run(
        command,
        check=True,
        env=environment,
        capture_output=True,
        text=True,
        timeout=40,
    )

    assert process.stdout == "timed out\n"


async def test_concurrent_fetches_share_one_dns_lookup(monkeypatch, short_timeout):
    lookups, release = [], threading.Event()

    def getaddrinfo(host, *_):
        lookups.append(host)
        release.wait(5)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    fetches = [fetch("http://dead.example/") for _ in range(50)]
    failures = await asyncio.gather(*fetches, return_exceptions=True)
    release.set()

    assert {type(failure) for failure in failures} == {FetchTimeout}
    assert lookups == ["dead.example"]


async def test_hanging_dns_lookups_do_not_block_other_fetches(
    server, monkeypatch, settings
):
    """Hanging lookups go on after the fetches that started them timed out."""
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes["/"] = reply(body=b"{}")
    release = threading.Event()
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    def getaddrinfo(host, *_):
        if host.startswith("dead"):
            release.wait(10)
        return addresses

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    hanging_fetches = (fetch(f"http://dead{n}.example/") for n in range(100))
    await asyncio.gather(*hanging_fetches, return_exceptions=True)
    by_name = await fetch(server.url("/", host="alive.example"))
    by_address = await fetch(server.url("/"))
    release.set()

    assert by_name.body == by_address.body == b"{}"


async def test_proxy_environment_variables_are_ignored(server, monkeypatch):
    with run_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        assert (await fetch(server.url("/"))).body == b"hello"
    assert proxy.requests == []


async def test_etag_is_returned_and_no_condition_is_sent_without_one(server):
    server.routes["/"] = reply(body=b"hello", etag='W/"1"')

    assert (await fetch(server.url("/"))).etag == 'W/"1"'
    assert "If-None-Match" not in server.requests[0].headers


async def test_304_response_is_returned_as_not_modified(server):
    server.routes["/"] = redirect("/there")
    server.routes["/there"] = reply(304)
    fetched = await fetch(server.url("/"), '"1"')

    assert (fetched.not_modified, fetched.body, fetched.etag) == (True, b"", '"1"')
    assert [r.headers["If-None-Match"] for r in server.requests] == ['"1"', '"1"']


@pytest.mark.parametrize("etag", [f'"{"x" * 499}"', '"\xe9"', '"\x01"', '"a\tb"'])
async def test_too_long_or_non_printable_etag_is_dropped(etag, server):
    server.routes["/"] = reply(body=b"hello", etag=etag)
    assert (await fetch(server.url("/"))).etag == ""


async def test_etag_of_maximum_length_is_returned(server):
    server.routes["/"] = reply(body=b"hello", etag=f'"{"x" * 498}"')
    assert len((await fetch(server.url("/"))).etag) == 500


async def test_event_stream_is_rejected_without_reading_it(server):
    def send_event_stream(request):
        yield response_head(content_type="text/event-stream; charset=utf-8")
        yield from never_respond(request)

    server.routes["/"] = send_event_stream
    with pytest.raises(FetchFailed, match="event stream"):
        await fetch(server.url("/"))


ROUTES_WITH_SECRETS = {
    "ok": reply(body=b"hello"),
    "not-found": reply(404),
    "redirect-loop": redirect("/hidden?token=hidden"),
    "redirect-with-password": redirect("http://user:hidden@127.0.0.1/hidden"),
    "redirect-to-script": redirect("javascript:hidden"),
    "redirect-to-invalid-port": redirect("http://127.0.0.1:hidden/"),
    "not-http": b"GET /hidden?token=hidden HTTP/1.1",
    "too-large": gzip_reply(b"x" * 2 * MEGABYTE),
    "no-response": never_respond,
}


@pytest.mark.parametrize("route", ROUTES_WITH_SECRETS.values(), ids=ROUTES_WITH_SECRETS)
async def test_path_and_query_are_neither_in_error_nor_logged(
    route, server, settings, log_output
):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes["/hidden?token=hidden"] = route
    message = ""
    try:
        await fetch(server.url("/hidden?token=hidden"))
    except FetchError as error:
        message = str(error)

    assert len(server.requests) > 0
    assert "hidden" not in message + log_output.getvalue()


@pytest.fixture
def tls_server(dns, server, tmp_path):
    """Run a server with a self-signed certificate for agent.example."""
    dns.answers["agent.example"] = dns.answers["other.example"] = [["127.0.0.1"]]
    with run_server(
        tls=create_certificate("agent.example", tmp_path / "tls.pem")
    ) as tls_server:
        tls_server.routes["/"] = reply(body=b"safe")
        yield tls_server


@pytest.fixture
def _trust_certificate(monkeypatch, tls_server, tmp_path):
    context = ssl.create_default_context(cafile=tmp_path / "tls.pem")
    monkeypatch.setattr(http_module, "get_tls_context", lambda: context)


async def test_untrusted_certificate_is_rejected(tls_server):
    with pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"):
        await fetch(tls_server.url("/", "agent.example"))
    assert tls_server.requests == []


@pytest.mark.usefixtures("_trust_certificate")
async def test_certificate_is_checked_for_the_host_name(tls_server):
    assert (await fetch(tls_server.url("/", "agent.example"))).body == b"safe"
    with pytest.raises(FetchFailed, match=r"not valid for 'other.example'"):
        await fetch(tls_server.url("/", "other.example"))
