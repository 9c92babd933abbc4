"""Which URLs, hosts and addresses may be fetched."""

import ipaddress
from collections import defaultdict

import pytest

from catalog.outbound.address_guard import is_allowed_address
from catalog.outbound.errors import UrlNotAllowed
from catalog.outbound.http import fetch
from tests.servers import LOOPBACK, parse_networks, redirect, reply, run_server

# Addresses that may not be fetched, with the network that would have to be allowed.
NETWORK_BY_PRIVATE_ADDRESS = {
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


PUBLIC_ADDRESSES = [
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


@pytest.mark.parametrize("address", NETWORK_BY_PRIVATE_ADDRESS)
def test_private_address_is_not_allowed(address, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    assert not is_allowed_address(ipaddress.ip_address(address))


@pytest.mark.parametrize(("address", "network"), NETWORK_BY_PRIVATE_ADDRESS.items())
def test_address_in_allowed_network_is_allowed(address, network, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("198.51.100.7/32", network)
    assert is_allowed_address(ipaddress.ip_address(address))


@pytest.mark.parametrize(("address", "network"), NETWORK_BY_PRIVATE_ADDRESS.items())
def test_address_outside_allowed_networks_is_not_allowed(address, network, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("127.0.0.0/8")
    assert is_allowed_address(ipaddress.ip_address(address)) == (
        network == "127.0.0.0/8"
    )


@pytest.mark.parametrize("networks", [(), ("127.0.0.0/8", "::1/128")])
@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_public_address_is_allowed(address, networks, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks(*networks)
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
async def test_invalid_url_is_rejected_without_dns_lookup(url, dns):
    with pytest.raises(UrlNotAllowed):
        await fetch(url)
    assert dns.lookups == []


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
async def test_loopback_is_rejected_in_every_notation(host, dns, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    dns.answers["localhost"] = dns.answers["localhost."] = [["127.0.0.1"]]

    with pytest.raises(UrlNotAllowed, match="is not a public host"):
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
async def test_metadata_hosts_are_rejected_without_dns_lookup(host, dns, server):
    dns.answers = defaultdict(lambda: [["127.0.0.1"]])

    with pytest.raises(UrlNotAllowed, match="not a public host"):
        await fetch(server.url("/", host))
    assert dns.lookups == server.requests == []


async def test_host_with_a_private_address_is_rejected(dns, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("127.0.0.1/32")
    dns.answers["agent.example"] = [["127.0.0.1", "127.0.0.2"]]

    with pytest.raises(UrlNotAllowed):
        await fetch(server.url("/", "agent.example"))
    assert server.requests == []


async def test_next_address_is_tried_when_connection_fails(dns, server):
    dns.answers["agent.example"] = [["127.0.0.2", "127.0.0.1"]]

    assert (await fetch(server.url("/", "agent.example"))).body == b"hello"


async def test_connection_uses_the_checked_address(dns, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("127.0.0.1/32")
    dns.answers["agent.example"] = [["127.0.0.1"], ["127.0.0.2"]]
    with run_server("127.0.0.2", server.port) as private:
        fetched = await fetch(server.url("/", "agent.example"))

    assert fetched.body == b"hello"
    assert dns.lookups == ["agent.example"]
    assert private.requests == []
    assert server.requests[0].headers["Host"] == f"agent.example:{server.port}"


async def test_address_is_checked_again_after_redirect(dns, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("127.0.0.1/32")
    dns.answers["agent.example"] = [["127.0.0.1"], ["127.0.0.2"]]
    server.routes["/"] = redirect("/again")
    with run_server("127.0.0.2", server.port) as private, pytest.raises(UrlNotAllowed):
        await fetch(server.url("/", "agent.example"))

    assert dns.lookups == ["agent.example"] * 2
    assert private.requests == []


async def test_allowed_ipv6_address_is_fetched(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server("::1") as server:
        server.routes["/"] = reply(body=b"six")
        assert (await fetch(server.url("/"))).body == b"six"
