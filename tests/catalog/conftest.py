"""Fixtures shared by the tests of the API, the pages and the admin."""

import pytest

from catalog.registration.service import import_url, register
from tests.factories import card_bytes
from tests.servers import LOOPBACK, reply, run_server


@pytest.fixture
def card_server(settings):
    """Run a server on loopback that publishes an agent card at /card."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with run_server() as server:
        server.routes["/card"] = reply(body=card_bytes(), etag='"1"')
        yield server


@pytest.fixture
def imported_entry(card_server, db):
    return import_url(card_server.url("/card")).entry


@pytest.fixture
def running_entry(settings, db):
    """Register an agent that responds to probes."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as server:
        server.routes["/.well-known/agent-card.json"] = reply()
        yield register(card_bytes(url=server.url("/a2a"))).entry
