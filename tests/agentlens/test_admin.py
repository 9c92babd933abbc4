import pytest
from django.urls import reverse
from knox.models import AuthToken
from rest_framework.test import APIClient

from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

ADD_TOKEN_URL = reverse("admin:knox_authtoken_add")


@pytest.fixture
def admin_client(client):
    client.force_login(UserFactory(role="Admin"))
    return client


def test_added_token_is_shown_once_and_works(admin_client):
    owner = UserFactory(role="Viewer")
    response = admin_client.post(
        ADD_TOKEN_URL, {"user": owner.pk, "expiry_0": "", "expiry_1": ""}
    )

    secret = response.context["secret"]
    assert secret in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert api.get("/api/v1/catalog").status_code == 200
    changelist = admin_client.get(reverse("admin:knox_authtoken_changelist"))
    assert secret not in changelist.content.decode()


def test_token_with_past_expiry_is_rejected(admin_client):
    form = {"user": UserFactory().pk, "expiry_0": "2020-01-01", "expiry_1": "00:00:00"}

    assert (
        "The expiry must be in the future."
        in admin_client.post(ADD_TOKEN_URL, form).content.decode()
    )
    assert not AuthToken.objects.exists()


def test_user_list_is_for_admins_only(admin_client, client):
    users = reverse("admin:auth_user_changelist")
    assert admin_client.get(users).status_code == 200

    client.force_login(UserFactory(role="Editor"))
    assert client.get(users).status_code == 403


def test_too_many_wrong_passwords_lock_the_user_name(client):
    user = UserFactory(role="Admin")
    user.set_password("right horse")
    user.save()
    login = reverse("admin:login")
    for _ in range(5):
        client.post(login, {"username": user.username, "password": "wrong"})
    response = client.post(
        login, {"username": user.username, "password": "right horse"}
    )

    assert response.status_code == 429
    assert "Too many login attempts" in response.content.decode()
