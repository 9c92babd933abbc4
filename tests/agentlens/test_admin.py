import pytest
from django.urls import reverse
from knox.models import AuthToken
from rest_framework.test import APIClient

from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

ADD = reverse("admin:knox_authtoken_add")


@pytest.fixture
def office(client):
    client.force_login(UserFactory(role="Admin"))
    return client


def test_a_token_is_shown_once_and_works(office):
    owner = UserFactory(role="Viewer")
    answer = office.post(ADD, {"user": owner.pk, "expiry_0": "", "expiry_1": ""})

    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert api.get("/api/v1/catalog").status_code == 200
    listed = office.get(reverse("admin:knox_authtoken_changelist")).content.decode()
    assert secret not in listed


def test_a_token_from_the_past_is_refused(office):
    form = {"user": UserFactory().pk, "expiry_0": "2020-01-01", "expiry_1": "00:00:00"}

    assert "That is in the past." in office.post(ADD, form).content.decode()
    assert not AuthToken.objects.exists()


def test_admins_manage_users_and_editors_do_not(office, client):
    users = reverse("admin:auth_user_changelist")
    assert office.get(users).status_code == 200

    client.force_login(UserFactory(role="Editor"))
    assert client.get(users).status_code == 403


def test_too_many_wrong_passwords_lock_the_name_out(client):
    user = UserFactory(role="Admin")
    user.set_password("right horse")
    user.save()
    login = reverse("admin:login")
    for _ in range(5):
        client.post(login, {"username": user.username, "password": "wrong"})
    answer = client.post(login, {"username": user.username, "password": "right horse"})

    assert answer.status_code == 429
    assert "Too many attempts" in answer.content.decode()
