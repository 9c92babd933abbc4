import pytest

from tests import mcp_servers


@pytest.fixture(autouse=True)
def _requests_to_one_address(allow_one_address):
    """Allow requests to 127.0.0.1 in all tests of this package."""


@pytest.fixture(scope="module")
def notebook_url():
    with mcp_servers.run_app(mcp_servers.notebook_app()) as base_url:
        yield f"{base_url}/mcp"
