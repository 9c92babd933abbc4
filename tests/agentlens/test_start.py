import pytest
from django.contrib.auth import authenticate, get_user_model

from agentlens.start import prepare_database

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_first_start_makes_an_admin_with_a_password_shown_once(rf):
    password = prepare_database()
    admin = authenticate(rf.post("/"), username="admin", password=password)

    assert admin.is_superuser
    assert admin.groups.get().name == "Admin"
    assert prepare_database() == ""


def test_a_given_password_is_taken_and_not_shown(settings, rf):
    settings.AGENTLENS_ADMIN_PASSWORD = "given horse battery"

    assert prepare_database() == ""
    assert authenticate(rf.post("/"), username="admin", password="given horse battery")


def test_an_admin_that_exists_is_left_alone():
    get_user_model().objects.create_superuser("root", password="x")

    assert prepare_database() == ""
    assert not get_user_model().objects.filter(username="admin").exists()
