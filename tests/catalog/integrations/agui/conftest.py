import pytest

from tests.servers import LOOPBACK, run_server

from .declarations import serve_declaration


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with run_server() as server:
        serve_declaration(server)
        yield server
