import socket
from contextlib import contextmanager
from threading import Thread

import pytest
import uvicorn
from django.core.cache import cache
from knox.models import AuthToken
from rest_framework.test import APIClient

from agentlens.asgi import application

from .factories import UserFactory


@pytest.fixture(autouse=True)
def _quick_and_clean(settings):
    """Passwords that cost nothing, and no writes remembered from another test."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Else every client first walks through all static files.
    settings.WHITENOISE_AUTOREFRESH = True
    cache.clear()


@pytest.fixture
def client_for(db):
    """An API client with a real bearer token for a user of the role."""

    def make(role: str) -> APIClient:
        _, token = AuthToken.objects.create(UserFactory(role=role))
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        return client

    return make


@pytest.fixture
def viewer(client_for):
    return client_for("Viewer")


@pytest.fixture
def editor(client_for):
    return client_for("Editor")


@pytest.fixture
def admin(client_for):
    return client_for("Admin")


@contextmanager
def serving():
    """AgentLens as it is served, on a free port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        application, lifespan="off", log_level="warning", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listener],))
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def server(transactional_db):
    with serving() as address:
        yield address
