import pytest
from django.contrib.auth import authenticate, get_user_model

from agentlens.start import prepare_database

pytestmark = pytest.mark.django_db(transaction=True)


def test_first_start_creates_admin_and_returns_password_once(rf):
    password = prepare_database()
    admin = authenticate(rf.post("/"), username="admin", password=password)

    assert admin.is_superuser
    assert admin.groups.get().name == "Admin"
    assert prepare_database() == ""


def test_configured_admin_password_is_used_and_not_returned(settings, rf):
    settings.AGENTLENS_ADMIN_PASSWORD = "given horse battery"

    assert prepare_database() == ""
    assert authenticate(rf.post("/"), username="admin", password="given horse battery")


def test_existing_superuser_prevents_admin_creation():
    get_user_model().objects.create_superuser("root", password="x")

    assert prepare_database() == ""
    assert not get_user_model().objects.filter(username="admin").exists()
