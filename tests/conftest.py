import io
import logging
import socket
from contextlib import contextmanager
from threading import Thread

import pytest
import uvicorn
from django.conf import settings
from django.core.cache import cache
from hypothesis import settings as hypothesis_settings
from knox.models import AuthToken
from rest_framework.test import APIClient

from agentlens.asgi import application

from .factories import UserFactory

# The same examples in every run; `pytest --hypothesis-profile=exploring` looks further.
hypothesis_settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis_settings.register_profile("exploring", deadline=None, max_examples=2000)
hypothesis_settings.load_profile("steady")

# Seconds that a writer waits for its turn on SQLite's one lock.
SQLITE_TIMEOUT = 300


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix):
    """Set what tests need of connections and the settings of a server do not give.

    Threads of servers outlive tests; a connection of theirs must not. And forty
    threads that write to SQLite take turns, each as long as a busy machine needs.
    """
    database = settings.DATABASES["default"]
    database["CONN_MAX_AGE"] = 0
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["OPTIONS"]["timeout"] = SQLITE_TIMEOUT


@pytest.fixture(autouse=True)
def _quick_and_clean(settings):
    """Passwords that cost nothing, and no writes remembered from another test."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Else every client first walks through all static files.
    settings.WHITENOISE_AUTOREFRESH = True
    cache.clear()


@pytest.fixture
def logged():
    """All that comes to the root logger, where our handlers are, however quiet."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    levels = {name: logging.getLogger(name).level for name in loggers()}
    for name in levels:
        logging.getLogger(name).setLevel(logging.DEBUG)
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def loggers():
    return ["root", *logging.root.manager.loggerDict]


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
