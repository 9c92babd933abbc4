"""Fixtures shared by the tests of the API, the pages and the admin."""

import pytest

from catalog.registration.service import import_url, register
from tests.factories import CatalogEntryFactory, card_bytes
from tests.servers import parse_networks, reply


@pytest.fixture
def allow_one_address(settings):
    """Allow requests to 127.0.0.1, but not to other loopback addresses."""
    settings.AGENTLENS_ALLOWED_NETWORKS = parse_networks("127.0.0.1/32")
    settings.AGENTLENS_FETCH_TIMEOUT = 5


@pytest.fixture
def entry(db):
    return CatalogEntryFactory()


@pytest.fixture
def imported_entry(card_server, db):
    return import_url(card_server.url("/card")).entry


@pytest.fixture
def running_entry(server, allow_loopback, db):
    """Register an agent that responds to probes."""
    server.routes["/.well-known/agent-card.json"] = reply(body=card_bytes())
    return register(card_bytes(url=server.url("/a2a"))).entry
