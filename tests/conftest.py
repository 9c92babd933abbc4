import pytest
from django.core.cache import cache
from knox.models import AuthToken
from rest_framework.test import APIClient

from .factories import UserFactory


@pytest.fixture(autouse=True)
def _quick_and_clean(settings):
    """Passwords that cost nothing, and no writes remembered from another test."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
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
