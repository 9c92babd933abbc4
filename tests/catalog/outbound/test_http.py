import asyncio
import gzip
import ipaddress
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from collections import defaultdict

import pytest

from catalog.outbound import http as fetch_module
from catalog.outbound.address_guard import is_allowed_address
from catalog.outbound.errors import FetchError, FetchFailed, FetchTimeout, UrlNotAllowed
from catalog.outbound.http import fetch
from tests.servers import (
    LOOPBACK,
    MEGABYTE,
    create_certificate,
    gzip_reply,
    never_respond,
    redirect,
    reply,
    response_head,
    run_server,
    send_endless_body,
    send_gzip_bomb,
    send_partial_body,
    send_slow_body,
)

GETADDRINFO = socket.getaddrinfo
# Addresses nobody may visit, and the network that would have to be allowed.
NOT_PUBLIC = {
    "0.0.0.0": "0.0.0.0/8",
    "10.1.2.3": "10.0.0.0/8",
    "100.64.0.1": "100.64.0.0/10",
    "100.127.255.255": "100.64.0.0/10",
    "127.0.0.1": "127.0.0.0/8",
    "127.255.255.254": "127.0.0.0/8",
    "168.63.129.16": "168.63.129.16/32",
    "169.254.1.1": "169.254.0.0/16",
    "169.254.169.254": "169.254.0.0/16",
    "172.16.0.1": "172.16.0.0/12",
    "172.31.255.255": "172.16.0.0/12",
    "192.0.0.192": "192.0.0.0/24",
    "192.0.2.1": "192.0.2.0/24",
    "192.88.99.1": "192.88.99.0/24",
    "192.168.0.1": "192.168.0.0/16",
    "198.18.0.1": "198.18.0.0/15",
    "198.51.100.1": "198.51.100.0/24",
    "203.0.113.1": "203.0.113.0/24",
    "224.0.0.1": "224.0.0.0/4",
    "239.255.255.255": "224.0.0.0/4",
    "240.0.0.1": "240.0.0.0/4",
    "255.255.255.255": "255.255.255.255/32",
    "::": "::/128",
    "::1": "::1/128",
    "::7f00:1": "::/96",
    "::ffff:10.0.0.1": "10.0.0.0/8",
    "::ffff:127.0.0.1": "127.0.0.0/8",
    "::ffff:169.254.169.254": "169.254.0.0/16",
    "64:ff9b::10.0.0.1": "10.0.0.0/8",
    "64:ff9b::127.0.0.1": "127.0.0.0/8",
    "64:ff9b:1::8.8.8.8": "64:ff9b:1::/48",
    "64:ff9b:1:7f00:0:100:808:808": "64:ff9b:1::/48",
    "100::1": "100::/64",
    "2001::1": "2001::/32",
    "2001:db8::1": "2001:db8::/32",
    "2002:7f00:1::": "127.0.0.0/8",
    "2002:a00:1::1": "10.0.0.0/8",
    "3fff::1": "3fff::/20",
    "fc00::1": "fc00::/7",
    "fd00:ec2::254": "fc00::/7",
    "fe80::1": "fe80::/10",
    "fec0::1": "fec0::/10",
    "ff02::1": "ff00::/8",
    "ff0e::1": "ff00::/8",
}
PUBLIC = [
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]


class Names:
    """What each name resolves to, answer by answer; every question is kept."""

    def __init__(self):
        self.asked = []
        self.answers = defaultdict(list)

    def getaddrinfo(self, host, port, *args, **kwargs):
        self.asked.append(host)
        if host.strip("0123456789abcdefx.:") == "":
            return GETADDRINFO(host, port, *args, **kwargs)
        if not self.answers[host]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        last = len(self.answers[host]) == 1
        found = self.answers[host][0] if last else self.answers[host].pop(0)
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in found]


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """No question about a name ever leaves this machine."""
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names.getaddrinfo)
    return names


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with run_server() as server:
        server.routes["/"] = reply(body=b"hello")
        yield server


@pytest.fixture
def hurried(settings):
    """Little patience, and a watch on how long it really took."""
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 10


def only(*networks):
    return [ipaddress.ip_network(network) for network in networks]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_refused(address, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    assert not is_allowed_address(ipaddress.ip_address(address))


@pytest.mark.parametrize(("address", "network"), NOT_PUBLIC.items())
def test_an_allowed_network_opens_its_own_addresses(address, network, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = only("198.51.100.7/32", network)
    assert is_allowed_address(ipaddress.ip_address(address))


@pytest.mark.parametrize(("address", "network"), NOT_PUBLIC.items())
def test_an_allowed_network_opens_no_others(address, network, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = only("127.0.0.0/8")
    assert is_allowed_address(ipaddress.ip_address(address)) == (
        network == "127.0.0.0/8"
    )


@pytest.mark.parametrize("networks", [(), ("127.0.0.0/8", "::1/128")])
@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_visited(address, networks, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = only(*networks)
    assert is_allowed_address(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "agent.example",
        "//agent.example/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://agent.example/",
        "data:application/json,{}",
        "http:",
        "http://",
        "http:///path",
        "http://?query",
        "http://user@agent.example/",
        "http://user:word@agent.example/",
        "http://@agent.example/",
        "http://agent.example:99999/",
        "http://agent.example:port/",
        "http://agent.example/a b",
        "http://agent.example/a\tb",
        "http://agent.example/\r\nHost: other",
        "http://agent.example/\x00",
        "http://agent.example/\u202e",
        "http://[::1",
        "http://[v1.x]/",
        "http://axn--/",
        "http://256.256.256.256/",
        "http://agent\u2100.example/",
        f"http://agent.example/{'a' * 2000}",
    ],
)
async def test_what_is_no_web_address_is_refused_before_any_look_up(url, names):
    with pytest.raises(UrlNotAllowed):
        await fetch(url)
    assert names.asked == []


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "LOCALHOST",
        "localhost.",
    ],
)
async def test_loopback_is_refused_however_it_is_spelled(host, names, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    names.answers["localhost"] = names.answers["localhost."] = [["127.0.0.1"]]

    with pytest.raises(UrlNotAllowed, match="not at a public address"):
        await fetch(server.url("/", host))
    assert server.requests == []


@pytest.mark.parametrize(
    "host",
    [
        "metadata",
        "metadata.google.internal",
        "METADATA.Google.Internal.",
        "metadata.goog",
    ],
)
async def test_metadata_hosts_are_refused_wherever_they_are(host, names, server):
    names.answers = defaultdict(lambda: [["127.0.0.1"]])

    with pytest.raises(UrlNotAllowed, match="not a public host"):
        await fetch(server.url("/", host))
    assert names.asked == server.requests == []


async def test_a_host_with_one_private_address_among_others_is_refused(
    names, server, settings
):
    settings.AGENTLENS_ALLOWED_NETWORKS = only("127.0.0.1/32")
    names.answers["agent.example"] = [["127.0.0.1", "127.0.0.2"]]

    with pytest.raises(UrlNotAllowed):
        await fetch(server.url("/", "agent.example"))
    assert server.requests == []


async def test_the_next_address_is_tried_when_the_first_is_dead(names, server):
    names.answers["agent.example"] = [["127.0.0.2", "127.0.0.1"]]

    assert (await fetch(server.url("/", "agent.example"))).body == b"hello"


async def test_the_connection_goes_to_the_very_address_that_was_checked(
    names, server, settings
):
    settings.AGENTLENS_ALLOWED_NETWORKS = only("127.0.0.1/32")
    names.answers["agent.example"] = [["127.0.0.1"], ["127.0.0.2"]]
    with run_server("127.0.0.2", server.port) as private:
        fetched = await fetch(server.url("/", "agent.example"))

    assert fetched.body == b"hello"
    assert names.asked == ["agent.example"]
    assert private.requests == []
    assert server.requests[0].headers["Host"] == f"agent.example:{server.port}"


async def test_a_name_that_changes_between_two_connections_is_checked_again(
    names, server, settings
):
    settings.AGENTLENS_ALLOWED_NETWORKS = only("127.0.0.1/32")
    names.answers["agent.example"] = [["127.0.0.1"], ["127.0.0.2"]]
    server.routes["/"] = redirect("/again")
    with run_server("127.0.0.2", server.port) as private, pytest.raises(UrlNotAllowed):
        await fetch(server.url("/", "agent.example"))

    assert names.asked == ["agent.example"] * 2
    assert private.requests == []


async def test_an_allowed_ipv6_address_is_reached(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server("::1") as server:
        server.routes["/"] = reply(body=b"six")
        assert (await fetch(server.url("/"))).body == b"six"


async def test_three_redirects_are_followed_and_the_asked_url_is_told(server):
    for n, status in enumerate([301, 302, 307]):
        server.routes[f"/{n}"] = redirect(f"/{n + 1}", status)
    server.routes["/3"] = reply(body=b"there")

    fetched = await fetch(server.url("/0"))
    assert (fetched.body, fetched.url) == (b"there", server.url("/0"))


async def test_four_redirects_are_too_many(server):
    for n in range(4):
        server.routes[f"/{n}"] = redirect(f"/{n + 1}", 308)
    server.routes["/4"] = reply(body=b"there")

    with pytest.raises(FetchFailed, match="redirects more than 3 times"):
        await fetch(server.url("/0"))
    assert server.paths == ["/0", "/1", "/2", "/3"]


async def test_a_redirect_in_a_circle_ends(server):
    server.routes["/"] = redirect("/", 303)

    with pytest.raises(FetchFailed, match="redirects"):
        await fetch(server.url("/"))
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("location", "there"),
    [
        ("../d?e=f#g", "/a/d?e=f"),
        ("/x", "/x"),
        ("?q", "/a/b/c?q"),
        ("d e", "/a/b/d%20e"),
    ],
)
async def test_a_redirect_is_relative_to_where_it_was_met(location, there, server):
    server.routes["/a/b/c"] = redirect(location)
    server.routes[there] = reply(body=b"there")

    assert (await fetch(server.url("/a/b/c"))).body == b"there"


@pytest.mark.parametrize("hops", [0, 1, 2])
async def test_a_redirect_to_a_private_address_is_refused(hops, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = only("127.0.0.1/32")
    with run_server("127.0.0.2") as private:
        for n in range(hops):
            server.routes[f"/{n}"] = redirect(f"/{n + 1}")
        server.routes[f"/{hops}"] = redirect(private.url("/"))
        with pytest.raises(
            UrlNotAllowed, match=r"127.0.0.2 is not at a public address"
        ):
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
async def test_a_redirect_to_no_allowed_web_address_is_refused(location, server):
    server.routes["/"] = redirect(location)

    with pytest.raises(UrlNotAllowed):
        await fetch(server.url("/"))


@pytest.mark.parametrize(
    "location",
    ["http://[::1", "http://a]b/", "http://127.0.0.1:port/", "http://\xe9\xff/", "//%"],
)
async def test_a_redirect_to_nonsense_is_an_error_like_any_other(location, server):
    server.routes["/"] = redirect(location)

    with pytest.raises(FetchError):
        await fetch(server.url("/"))


@pytest.mark.parametrize("status", [201, 204, 300, 302, 304, 400, 401, 404, 410, 500])
async def test_any_answer_but_ok_is_a_failure_that_tells_its_status(status, server):
    server.routes["/"] = reply(status)

    with pytest.raises(FetchFailed, match=f"127.0.0.1 returned HTTP {status}"):
        await fetch(server.url("/"))


async def test_a_refused_connection_is_a_failure(server):
    with run_server() as gone:
        url = gone.url("/")

    with pytest.raises(FetchFailed, match=r"Could not fetch from 127.0.0.1"):
        await fetch(url)


async def test_a_name_nobody_knows_is_a_failure(server):
    with pytest.raises(FetchFailed, match=r"nowhere.example: DNS lookup failed"):
        await fetch("http://nowhere.example/")


@pytest.mark.parametrize("host", ["a..example", f"{'a' * 64}.example"])
async def test_a_name_that_cannot_be_asked_for_is_a_failure(host, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", GETADDRINFO)
    with pytest.raises(FetchFailed, match="DNS lookup failed"):
        await fetch(f"http://{host}/")


NOT_HTTP = {
    "nothing": b"",
    "another protocol": b"SSH-2.0-secret\r\n",
    "no header": b"HTTP/1.1 200 OK\r\nsecret\r\n\r\n",
    "endless header": b"HTTP/1.1 200 OK\r\nSecret: " + b"a" * 200_000,
    "a length out of range": response_head(content_length="9" * 30),
    "less than promised": response_head(content_length=10) + b"short",
    "no chunk": response_head(transfer_encoding="chunked") + b"secret\r\n",
}


@pytest.mark.parametrize("answer", NOT_HTTP.values(), ids=NOT_HTTP)
async def test_what_is_no_http_is_a_failure_that_quotes_nothing(answer, server):
    server.routes["/"] = answer

    with pytest.raises(FetchFailed) as caught:
        await fetch(server.url("/"))
    assert str(caught.value) == "127.0.0.1 did not send a valid HTTP response"


@pytest.mark.parametrize("route", [never_respond, send_slow_body, send_partial_body])
async def test_a_server_that_takes_its_time_runs_out_of_ours(route, server, hurried):
    server.routes["/"] = route

    with pytest.raises(FetchTimeout, match=r"127.0.0.1 did not respond within 0.3 s"):
        await fetch(server.url("/"))


async def test_time_runs_across_redirects(server, hurried):
    def later(request):
        time.sleep(0.2)
        yield redirect(request.path + "x")

    server.routes = {"/" + "x" * n: later for n in range(4)}
    with pytest.raises(FetchTimeout):
        await fetch(server.url("/"))


async def test_a_slow_look_up_counts_as_time_too(monkeypatch, settings, hurried):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: time.sleep(1))

    with pytest.raises(FetchTimeout):
        await fetch("http://agent.example/")


def test_nobody_who_ends_waits_for_a_slow_look_up():
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
    print("not waited for")
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "agentlens.settings"}
    command = [sys.executable, "-c", script]
    ended = subprocess.run(
        command,
        check=True,
        env=environment,
        capture_output=True,
        text=True,
        timeout=40,
    )

    assert ended.stdout == "not waited for\n"


async def test_many_who_ask_for_a_name_wait_for_one_answer(monkeypatch, hurried):
    asked, answered = [], threading.Event()

    def getaddrinfo(host, *_):
        asked.append(host)
        answered.wait(5)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    fetches = [fetch("http://dead.example/") for _ in range(50)]
    failures = await asyncio.gather(*fetches, return_exceptions=True)
    answered.set()

    assert {type(failure) for failure in failures} == {FetchTimeout}
    assert asked == ["dead.example"]


async def test_dead_names_keep_nobody_else_waiting(server, monkeypatch, settings):
    """Their look-ups go on long after those who asked gave up."""
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes["/"] = reply(body=b"{}")
    answered = threading.Event()
    looked_up = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    def getaddrinfo(host, *_):
        if host.startswith("dead"):
            answered.wait(10)
        return looked_up

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    dead = (fetch(f"http://dead{n}.example/") for n in range(100))
    await asyncio.gather(*dead, return_exceptions=True)
    by_name = await fetch(server.url("/", host="alive.example"))
    by_address = await fetch(server.url("/"))
    answered.set()

    assert by_name.body == by_address.body == b"{}"


async def test_an_endless_body_is_cut_off(server):
    server.routes["/"] = send_endless_body

    with pytest.raises(FetchFailed, match="larger than 1048576 bytes"):
        await fetch(server.url("/"))


@pytest.mark.parametrize("answer", [lambda body: reply(body=body), gzip_reply])
async def test_a_body_may_be_as_large_as_the_limit_and_no_larger(answer, server):
    server.routes["/fits"] = answer(b"x" * MEGABYTE)
    server.routes["/over"] = answer(b"x" * (MEGABYTE + 1))

    assert (await fetch(server.url("/fits"))).body == b"x" * MEGABYTE
    with pytest.raises(FetchFailed, match="larger than 1048576 bytes"):
        await fetch(server.url("/over"))


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("", bytes),
        ("identity", bytes),
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
    ],
)
async def test_a_body_is_unpacked_as_its_encoding_says(encoding, pack, server):
    packed = pack(b"hello " * 1000)
    server.routes["/"] = reply(body=gzip_reply, content_encoding=encoding)

    assert (await fetch(server.url("/"))).body == b"hello " * 1000
    assert server.requests[0].headers["Accept-Encoding"] == "gzip"


HELLO = gzip.compress(b"hello", mtime=0)
ILL_PACKED = {
    "empty": b"",
    "not packed": b"hello",
    "a byte short": HELLO[:-1],
    "cut short": HELLO[:-9],
    "header only": HELLO[:10],
    "wrong checksum": HELLO[:-8] + b"\0" * 8,
    "followed by more": HELLO + b"more",
    "followed by another": HELLO + HELLO,
    "raw deflate": zlib.compress(b"hello")[2:-4],
}


@pytest.mark.parametrize("body", ILL_PACKED.values(), ids=ILL_PACKED)
async def test_a_body_that_is_not_what_its_encoding_says_is_refused(body, server):
    server.routes["/"] = reply(body=body, content_encoding="gzip")

    with pytest.raises(FetchFailed, match="The response body is not"):
        await fetch(server.url("/"))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "x" * 99])
async def test_an_encoding_we_did_not_ask_for_is_refused(encoding, server):
    server.routes["/"] = reply(body=HELLO, content_encoding=encoding)

    with pytest.raises(FetchFailed, match="unknown encoding") as caught:
        await fetch(server.url("/"))
    assert len(str(caught.value)) < 100


async def test_a_layer_inside_a_layer_stays_packed(server):
    server.routes["/"] = gzip_reply(HELLO)
    assert (await fetch(server.url("/"))).body == HELLO


async def test_junk_after_a_packed_body_is_not_waited_for(server):
    sent = []

    def junk(request):
        yield response_head(content_encoding="gzip") + HELLO
        while len(sent) < 1000:
            sent.append(b"junk" * 16_384)
            yield sent[-1]

    server.routes["/"] = junk
    with pytest.raises(FetchFailed):
        await fetch(server.url("/"))
    assert len(sent) < 1000


async def test_a_gzip_bomb_goes_off_neither_in_memory_nor_in_time(server):
    server.routes["/"] = reply(body=b"first, so that all modules are there")
    await fetch(server.url("/"))
    server.routes["/"] = send_gzip_bomb
    tracemalloc.start()
    try:
        with pytest.raises(FetchFailed, match="larger than 1048576 bytes"):
            await fetch(server.url("/"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * MEGABYTE


async def test_proxies_of_the_environment_are_ignored(server, monkeypatch):
    with run_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        assert (await fetch(server.url("/"))).body == b"hello"
    assert proxy.requests == []


async def test_an_etag_comes_back_and_is_not_asked_for_without_one(server):
    server.routes["/"] = reply(body=b"hello", etag='W/"1"')

    assert (await fetch(server.url("/"))).etag == 'W/"1"'
    assert "If-None-Match" not in server.requests[0].headers


async def test_what_we_hold_already_is_not_sent_again(server):
    server.routes["/"] = redirect("/there")
    server.routes["/there"] = reply(304)
    fetched = await fetch(server.url("/"), '"1"')

    assert (fetched.not_modified, fetched.body, fetched.etag) == (True, b"", '"1"')
    assert [r.headers["If-None-Match"] for r in server.requests] == ['"1"', '"1"']


@pytest.mark.parametrize("etag", [f'"{"x" * 499}"', '"\xe9"', '"\x01"', '"a\tb"'])
async def test_an_etag_that_cannot_be_kept_or_sent_back_is_dropped(etag, server):
    server.routes["/"] = reply(body=b"hello", etag=etag)
    assert (await fetch(server.url("/"))).etag == ""


async def test_an_etag_of_the_longest_length_is_kept(server):
    server.routes["/"] = reply(body=b"hello", etag=f'"{"x" * 498}"')
    assert len((await fetch(server.url("/"))).etag) == 500


async def test_a_stream_of_events_is_no_definition_and_is_left_at_once(server):
    def stream(request):
        yield response_head(content_type="text/event-stream; charset=utf-8")
        yield from never_respond(request)

    server.routes["/"] = stream
    with pytest.raises(FetchFailed, match="event stream"):
        await fetch(server.url("/"))


ANSWERS = {
    "good": reply(body=b"hello"),
    "missing": reply(404),
    "circle": redirect("/hidden?token=hidden"),
    "redirect with a password": redirect("http://user:hidden@127.0.0.1/hidden"),
    "redirect to a script": redirect("javascript:hidden"),
    "redirect to no port": redirect("http://127.0.0.1:hidden/"),
    "echo": b"GET /hidden?token=hidden HTTP/1.1",
    "too large": gzip_reply(b"x" * 2 * MEGABYTE),
    "silence": never_respond,
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_nothing_of_path_or_query_is_told_or_logged(
    answer, server, settings, log_output
):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes["/hidden?token=hidden"] = answer
    told = ""
    try:
        await fetch(server.url("/hidden?token=hidden"))
    except FetchError as error:
        told = str(error)

    assert len(server.requests) > 0
    assert "hidden" not in told + log_output.getvalue()


@pytest.fixture
def secure(names, server, tmp_path):
    """A server known as agent.example, by a certificate that it made itself."""
    names.answers["agent.example"] = names.answers["other.example"] = [["127.0.0.1"]]
    with run_server(tls=create_certificate("agent.example", tmp_path / "tls.pem")) as secure:
        secure.routes["/"] = reply(body=b"safe")
        yield secure


@pytest.fixture
def vouched_for(monkeypatch, secure, tmp_path):
    trusting = ssl.create_default_context(cafile=tmp_path / "tls.pem")
    monkeypatch.setattr(fetch_module, "tls_context", lambda: trusting)


async def test_a_certificate_nobody_vouches_for_is_refused(secure):
    with pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"):
        await fetch(secure.url("/", "agent.example"))
    assert secure.requests == []


@pytest.mark.usefixtures("vouched_for")
async def test_a_certificate_is_checked_for_the_name_not_the_address(secure):
    assert (await fetch(secure.url("/", "agent.example"))).body == b"safe"
    with pytest.raises(FetchFailed, match=r"not valid for 'other.example'"):
        await fetch(secure.url("/", "other.example"))
