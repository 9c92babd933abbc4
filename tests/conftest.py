import io
import logging
import socket
from contextlib import contextmanager
from threading import Thread

import pytest
import uvicorn
from django.apps import AppConfig
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from hypothesis import settings as hypothesis_settings
from knox.models import AuthToken
from rest_framework.test import APIClient

from agentlens.asgi import application
from capabilities.kinds import kinds
from capabilities.parsers import parsers

from .factories import UserFactory, card_bytes
from .servers import LOOPBACK, reply, run_server

# The same examples in every run; `--hypothesis-profile=exploring` tries more.
hypothesis_settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis_settings.register_profile("exploring", deadline=None, max_examples=2000)
hypothesis_settings.load_profile("steady")

# Seconds that a writer waits for SQLite's write lock.
SQLITE_TIMEOUT = 300


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix):
    """Adjust the database connections for tests.

    Server threads outlive a test, so their connections must not persist. SQLite
    needs a long timeout, because some tests write from forty threads at once.
    """
    database = settings.DATABASES["default"]
    database["CONN_MAX_AGE"] = 0
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["OPTIONS"]["timeout"] = SQLITE_TIMEOUT


@pytest.fixture(autouse=True)
def _fast_hasher_and_empty_cache(settings):
    """Use a fast password hasher and start with an empty cache."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Without this, each test client scans all static files first.
    settings.WHITENOISE_AUTOREFRESH = True
    cache.clear()


@pytest.fixture
def log_output():
    """Capture everything that reaches the root logger, with all levels enabled."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    levels = {name: logging.getLogger(name).level for name in logger_names()}
    for name in levels:
        logging.getLogger(name).setLevel(logging.DEBUG)
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def logger_names():
    return ["root", *logging.root.manager.loggerDict]


@pytest.fixture
def api_client_for_role(db):
    """Return a function that builds an API client with a token for a role."""

    def build_client(role: str) -> APIClient:
        _, token = AuthToken.objects.create(UserFactory(role=role))
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        return client

    return build_client


@pytest.fixture
def viewer_api(api_client_for_role):
    return api_client_for_role("Viewer")


@pytest.fixture
def editor_api(api_client_for_role):
    return api_client_for_role("Editor")


@pytest.fixture
def admin_api(api_client_for_role):
    return api_client_for_role("Admin")


@pytest.fixture
def session_client_for_role(db):
    """Return a function that builds a client with the session of a new user.

    Without a role, the user has no permissions.
    """

    def build_client(role: str = "") -> Client:
        client = Client()
        client.force_login(UserFactory(role=role))
        return client

    return build_client


@pytest.fixture
def viewer_client(session_client_for_role):
    return session_client_for_role("Viewer")


@pytest.fixture
def editor_client(session_client_for_role):
    return session_client_for_role("Editor")


@pytest.fixture
def weather():
    """Register the weather protocol as Django does at startup, for one test."""
    with kinds.temporarily(), parsers.temporarily():
        AppConfig.create("tests.weather").ready()
        yield


@contextmanager
def run_agentlens():
    """Run AgentLens with uvicorn on a free port and yield its URL."""
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
def agentlens_url(transactional_db):
    """Run AgentLens; yield its base URL."""
    with run_agentlens() as url:
        yield url


@pytest.fixture
def server():
    """Run a server on loopback, to which a test adds routes."""
    with run_server() as server:
        yield server


@pytest.fixture
def allow_loopback(settings):
    """Allow requests to every loopback address."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5


@pytest.fixture
def card_server(server, allow_loopback):
    """Run a server on loopback that publishes an agent card at /card."""
    server.routes["/card"] = reply(body=card_bytes(), etag='"1"')
    return server
