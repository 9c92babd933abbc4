from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection
from django.middleware.csrf import get_token
from django.test import RequestFactory
from knox.models import AuthToken
from rest_framework.test import APIClient

from agentlens.roles import ADMIN, EDITOR, ROLES, VIEWER, sync_roles
from catalog.models import CatalogEntry
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes

pytestmark = pytest.mark.django_db

WHO = ["nobody", "no role", "Viewer", "Editor", "Admin"]
# What each of them is answered, in that order; {} is an entry's id.
TABLE = [
    ("GET", "/catalog", [401, 403, 200, 200, 200]),
    ("HEAD", "/catalog", [401, 403, 200, 200, 200]),
    ("GET", "/catalog/{}", [401, 403, 200, 200, 200]),
    ("GET", "/catalog/{}/card", [401, 403, 200, 200, 200]),
    ("GET", "/catalog/{}/versions", [401, 403, 200, 200, 200]),
    ("GET", "/kinds", [401, 403, 200, 200, 200]),
    ("GET", "/stats", [401, 403, 200, 200, 200]),
    ("GET", "/schema", [401, 403, 200, 200, 200]),
    ("GET", "/docs", [401, 403, 200, 200, 200]),
    ("POST", "/catalog/validate", [401, 403, 200, 200, 200]),
    ("POST", "/catalog/register", [401, 403, 403, 201, 201]),
    # 400 is the answer to the body, given to those who may ask.
    ("POST", "/catalog/import", [401, 403, 403, 400, 400]),
    ("PATCH", "/catalog/{}", [401, 403, 403, 400, 400]),
    ("DELETE", "/catalog/{}", [401, 403, 403, 403, 204]),
    ("GET", "/registry/capabilities", [401, 403, 200, 200, 200]),
    ("GET", "/registry/capabilities/health", [401, 403, 200, 200, 200]),
    ("POST", "/registry/capabilities", [401, 403, 403, 400, 400]),
    # 404: this entry offers nothing yet.
    ("PUT", "/registry/capabilities/{}", [401, 403, 403, 404, 404]),
    ("POST", "/registry/capabilities/{}/reports", [401, 403, 403, 400, 400]),
    ("DELETE", "/registry/capabilities/{}/web-search", [401, 403, 403, 404, 404]),
]
READS = [(method, place) for method, place, answers in TABLE if answers[2] == 200]
WRITES = [(method, place) for method, place, answers in TABLE if answers[2] != 200]
CODES = {400: "INVALID_BODY", 401: "NOT_AUTHENTICATED", 403: "PERMISSION_DENIED"}


def client_of(user=None) -> APIClient:
    client = APIClient()
    if user:
        _, secret = AuthToken.objects.create(user)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def session_of(user) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def client_as(who: str) -> APIClient:
    if who == "nobody":
        return client_of()
    return client_of(UserFactory(role="" if who == "no role" else who))


def ask(client, method: str, place: str, **headers):
    place = "/api/v1" + place.format(CatalogEntryFactory().pk)
    body = b"" if method in ("GET", "HEAD", "DELETE") else card_bytes()
    json = "application/json"
    return client.generic(method, place, body, content_type=json, headers=headers)


@pytest.mark.parametrize(
    ("who", "method", "place", "expected"),
    [
        (who, method, place, answers[n])
        for method, place, answers in TABLE
        for n, who in enumerate(WHO)
    ],
)
def test_what_each_may(who, method, place, expected):
    answer = ask(client_as(who), method, place)

    if expected in CODES and method != "HEAD":
        assert_error_response(answer, expected, CODES[expected])
    assert answer.status_code == expected


@pytest.mark.parametrize(("method", "place"), READS)
@pytest.mark.parametrize("who", ["nobody", "no role"])
def test_anonymous_reading_opens_what_a_viewer_may(who, method, place, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True

    assert ask(client_as(who), method, place).status_code == 200


@pytest.mark.parametrize(("method", "place"), WRITES)
@pytest.mark.parametrize("who", ["nobody", "no role", "Viewer"])
def test_anonymous_reading_opens_nothing_else(who, method, place, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    status = 401 if who == "nobody" else 403

    assert_error_response(ask(client_as(who), method, place), status, CODES[status])
    assert CatalogEntry.objects.count() == 1


def test_anonymous_reading_does_not_forgive_a_bad_token(settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    answer = ask(
        client_of(), "GET", "/catalog", Authorization="Bearer 0123456789abcdef"
    )

    assert_error_response(answer, 401, "NOT_AUTHENTICATED")


@pytest.fixture
def browser():
    """Logged in by a session, and held to CSRF as a browser is."""
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(UserFactory(role="Admin"))
    return client


@pytest.mark.parametrize(
    ("method", "place"), [("GET", "/catalog"), ("HEAD", "/catalog/{}")]
)
def test_a_session_reads_without_a_csrf_token(browser, method, place):
    assert ask(browser, method, place).status_code == 200


@pytest.mark.parametrize(
    ("method", "place"), [*WRITES, ("POST", "/catalog/validate")], ids=str
)
def test_a_session_needs_a_csrf_token_to_write(browser, method, place):
    body = assert_error_response(ask(browser, method, place), 403, "PERMISSION_DENIED")

    assert "CSRF" in body["error"]
    assert CatalogEntry.objects.count() == 1


def test_a_session_writes_with_a_csrf_token(browser):
    token = get_token(RequestFactory().get("/"))
    browser.cookies["csrftoken"] = token
    answer = ask(browser, "POST", "/catalog/register", **{"X-CSRFToken": token})

    assert answer.status_code == 201


def test_a_token_needs_no_csrf_token():
    client = APIClient(enforce_csrf_checks=True)
    _, secret = AuthToken.objects.create(UserFactory(role="Editor"))
    answer = ask(client, "POST", "/catalog/register", Authorization=f"Bearer {secret}")

    assert answer.status_code == 201


def everything_stored() -> str:
    """Every column of every table, as text."""
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows += cursor.fetchall()
    return repr(rows)


def test_the_secret_of_a_token_is_stored_nowhere():
    token, secret = AuthToken.objects.create(UserFactory(role="Viewer"))
    ask(client_of(), "GET", "/catalog", Authorization=f"Bearer {secret}")
    stored = everything_stored()

    assert token.digest in stored
    assert secret not in stored
    # Its beginning is kept to find it by, the rest of it is not.
    assert secret[len(token.token_key) :] not in stored


def test_a_token_expires_after_ninety_days_unless_told_otherwise():
    token, _ = AuthToken.objects.create(UserFactory())

    assert token.expiry - token.created == pytest.approx(
        timedelta(days=90), abs=timedelta(seconds=5)
    )


def test_an_expired_token_is_refused():
    user = UserFactory(role="Admin")
    _, secret = AuthToken.objects.create(user, expiry=timedelta(seconds=-1))
    answer = ask(client_of(), "GET", "/catalog", Authorization=f"Bearer {secret}")

    assert_error_response(answer, 401, "NOT_AUTHENTICATED")


def test_a_token_taken_away_is_refused():
    client = client_as("Admin")
    AuthToken.objects.all().delete()

    assert_error_response(ask(client, "GET", "/catalog"), 401, "NOT_AUTHENTICATED")


@pytest.mark.parametrize("login", [client_of, session_of])
def test_an_inactive_user_is_refused(login):
    user = UserFactory(role="Admin")
    client = login(user)
    assert ask(client, "GET", "/catalog").status_code == 200

    user.is_active = False
    user.save()
    assert_error_response(ask(client, "GET", "/catalog"), 401, "NOT_AUTHENTICATED")


def test_a_role_taken_away_is_gone_at_once():
    user = UserFactory(role="Editor")
    client = client_of(user)
    user.groups.clear()

    assert_error_response(ask(client, "GET", "/catalog"), 403, "PERMISSION_DENIED")


def test_a_superuser_needs_no_role():
    client = client_of(UserFactory(is_superuser=True))

    assert ask(client, "DELETE", "/catalog/{}").status_code == 204


def granted(role: str) -> set[str]:
    permissions = Group.objects.get(name=role).permissions
    pairs = permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in pairs}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_holds_exactly_what_is_written_of_it(role):
    assert granted(role) == ROLES[role]


def test_each_role_holds_what_the_one_below_it_does():
    assert VIEWER < EDITOR < ADMIN
    assert all(".view_" in permission for permission in VIEWER)


def test_an_editor_registers_and_unregisters_but_deletes_nothing_else():
    verbs = ("view", "add", "change", "delete")
    offers = {f"routing.{verb}_capabilityregistration" for verb in verbs}

    assert {one for one in VIEWER if one.startswith("routing.")} == {
        "routing.view_capabilityregistration"
    }
    assert {one for one in EDITOR if one.startswith("routing.")} == offers
    assert not any(".delete_" in permission for permission in EDITOR - offers)


def test_roles_are_restored_however_they_were():
    Group.objects.get(name="Viewer").permissions.set(Permission.objects.all())
    Group.objects.get(name="Editor").permissions.clear()
    Group.objects.get(name="Admin").delete()
    sync_roles()

    assert {role: granted(role) for role in ROLES} == ROLES


def test_restoring_keeps_members_and_groups_of_ones_own():
    member = UserFactory(role="Editor")
    own = Group.objects.create(name="Auditors")
    sync_roles()
    sync_roles()

    assert member.groups.get().name == "Editor"
    assert own in Group.objects.all()
    assert Group.objects.count() == len(ROLES) + 1


def test_migrating_restores_them():
    Group.objects.get(name="Viewer").permissions.clear()
    call_command("migrate", verbosity=0)

    assert granted("Viewer") == VIEWER


def test_unknown_entries_are_no_secret_told_to_those_who_may_not_read():
    for method in ("GET", "PATCH", "DELETE"):
        answer = client_as("no role").generic(method, f"/api/v1/catalog/{uuid4()}")
        assert_error_response(answer, 403, "PERMISSION_DENIED")
