import socket
import time
from collections import defaultdict

import pytest

from tests.servers import reply

REAL_GETADDRINFO = socket.getaddrinfo


class FakeDNS:
    """A resolver with prepared answers that records the looked-up hosts.

    `answers` has a list of answers for each host, used in turn; the last is repeated.
    """

    def __init__(self):
        self.lookups = []
        self.answers = defaultdict(list)

    def getaddrinfo(self, host, port, *args, **kwargs):
        self.lookups.append(host)
        is_ip_address = host.strip("0123456789abcdefx.:") == ""
        if is_ip_address:
            return REAL_GETADDRINFO(host, port, *args, **kwargs)
        answers = self.answers[host]
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        family = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*family, (address, port)) for address in addresses]


@pytest.fixture(autouse=True)
def dns(monkeypatch):
    """Replace the resolver, so that no DNS query leaves this machine."""
    dns = FakeDNS()
    monkeypatch.setattr(socket, "getaddrinfo", dns.getaddrinfo)
    return dns


@pytest.fixture
def server(server, allow_loopback):
    server.routes["/"] = reply(body=b"hello")
    return server


@pytest.fixture
def short_timeout(settings):
    """Set a short timeout and assert that the test does not take much longer."""
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    started_at = time.monotonic()
    yield
    assert time.monotonic() - started_at < 10
