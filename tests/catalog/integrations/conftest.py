import pytest

from tests.conftest import serving


@pytest.fixture
def live(transactional_db):
    """AgentLens itself, served; `server` is somebody else here."""
    with serving() as address:
        yield address
