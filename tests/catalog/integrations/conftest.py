import pytest

from tests.conftest import run_agentlens


@pytest.fixture
def agentlens_url(transactional_db):
    """Run AgentLens; yield its base URL."""
    with run_agentlens() as url:
        yield url
