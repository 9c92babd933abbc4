import pytest

from tests.conftest import run_agentlens


@pytest.fixture
def live(transactional_db):
    """AgentLens itself, served; `server` is somebody else here."""
    with run_agentlens() as address:
        yield address
