import pytest

from .declarations import serve_declaration


@pytest.fixture
def server(server, allow_loopback):
    serve_declaration(server)
    return server
