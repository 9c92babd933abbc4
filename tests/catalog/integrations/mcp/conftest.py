import ipaddress

import pytest

from tests import mcp_servers, servers


@pytest.fixture(autouse=True)
def _allow_loopback(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.1/32")]
    settings.AGENTLENS_FETCH_TIMEOUT = 5


@pytest.fixture
def server():
    with servers.run_server() as server:
        yield server


@pytest.fixture(scope="module")
def notebook_url():
    with mcp_servers.run_app(mcp_servers.notebook_app()) as base_url:
        yield f"{base_url}/mcp"
