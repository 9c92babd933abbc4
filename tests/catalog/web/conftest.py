import pytest
from django.test import Client

from tests.factories import UserFactory


@pytest.fixture
def session_of(db):
    """A browser's session of somebody with a role, or of somebody without one."""

    def make(role: str = "") -> Client:
        client = Client()
        client.force_login(UserFactory(role=role))
        return client

    return make


@pytest.fixture
def reader(session_of):
    return session_of("Viewer")


@pytest.fixture
def curator(session_of):
    return session_of("Editor")
