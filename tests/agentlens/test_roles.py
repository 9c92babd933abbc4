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

CALLERS = ["anonymous", "no role", "Viewer", "Editor", "Admin"]
# The status codes that these callers get, in that order; {} is the ID of an entry.
EXPECTED_STATUSES = [
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
    # 400: the request is permitted, but its body is invalid.
    ("POST", "/catalog/import", [401, 403, 403, 400, 400]),
    ("PATCH", "/catalog/{}", [401, 403, 403, 400, 400]),
    ("DELETE", "/catalog/{}", [401, 403, 403, 403, 204]),
    ("GET", "/registry/capabilities", [401, 403, 200, 200, 200]),
    ("GET", "/registry/capabilities/health", [401, 403, 200, 200, 200]),
    ("POST", "/registry/capabilities", [401, 403, 403, 400, 400]),
    # 404: the entry has no registration yet.
    ("PUT", "/registry/capabilities/{}", [401, 403, 403, 404, 404]),
    ("POST", "/registry/capabilities/{}/reports", [401, 403, 403, 400, 400]),
    ("DELETE", "/registry/capabilities/{}/web-search", [401, 403, 403, 404, 404]),
]
VIEWER_COLUMN = CALLERS.index("Viewer")
READS = [
    (method, path)
    for method, path, statuses in EXPECTED_STATUSES
    if statuses[VIEWER_COLUMN] == 200
]
WRITES = [
    (method, path)
    for method, path, statuses in EXPECTED_STATUSES
    if statuses[VIEWER_COLUMN] != 200
]
CODES = {400: "INVALID_BODY", 401: "NOT_AUTHENTICATED", 403: "PERMISSION_DENIED"}


def create_token_client(user=None) -> APIClient:
    """Return a client with a token of the user, or an anonymous one."""
    client = APIClient()
    if user:
        _, secret = AuthToken.objects.create(user)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def create_session_client(user) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def create_client(caller: str) -> APIClient:
    if caller == "anonymous":
        return create_token_client()
    return create_token_client(UserFactory(role="" if caller == "no role" else caller))


def send(client, method: str, path: str, **headers):
    """Send a request about a new entry, with a card as its body."""
    url = "/api/v1" + path.format(CatalogEntryFactory().pk)
    body = b"" if method in ("GET", "HEAD", "DELETE") else card_bytes()
    json = "application/json"
    return client.generic(method, url, body, content_type=json, headers=headers)


@pytest.mark.parametrize(
    ("caller", "method", "path", "expected"),
    [
        (caller, method, path, status)
        for method, path, statuses in EXPECTED_STATUSES
        for caller, status in zip(CALLERS, statuses, strict=True)
    ],
)
def test_role_permits_exactly_its_requests(caller, method, path, expected):
    response = send(create_client(caller), method, path)

    if expected in CODES and method != "HEAD":
        assert_error_response(response, expected, CODES[expected])
    assert response.status_code == expected


@pytest.mark.parametrize(("method", "path"), READS)
@pytest.mark.parametrize("caller", ["anonymous", "no role"])
def test_anonymous_read_permits_reads(caller, method, path, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True

    assert send(create_client(caller), method, path).status_code == 200


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize("caller", ["anonymous", "no role", "Viewer"])
def test_anonymous_read_does_not_permit_writes(caller, method, path, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    status = 401 if caller == "anonymous" else 403

    assert_error_response(
        send(create_client(caller), method, path), status, CODES[status]
    )
    assert CatalogEntry.objects.count() == 1


def test_anonymous_read_rejects_invalid_token(settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    response = send(
        create_token_client(),
        "GET",
        "/catalog",
        Authorization="Bearer 0123456789abcdef",
    )

    assert_error_response(response, 401, "NOT_AUTHENTICATED")


@pytest.fixture
def browser():
    """Return a client with a session that must pass CSRF checks."""
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(UserFactory(role="Admin"))
    return client


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/catalog"), ("HEAD", "/catalog/{}")]
)
def test_session_reads_without_csrf_token(browser, method, path):
    assert send(browser, method, path).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"), [*WRITES, ("POST", "/catalog/validate")], ids=str
)
def test_session_write_without_csrf_token_returns_403(browser, method, path):
    body = assert_error_response(send(browser, method, path), 403, "PERMISSION_DENIED")

    assert "CSRF" in body["error"]
    assert CatalogEntry.objects.count() == 1


def test_session_writes_with_csrf_token(browser):
    token = get_token(RequestFactory().get("/"))
    browser.cookies["csrftoken"] = token
    response = send(browser, "POST", "/catalog/register", **{"X-CSRFToken": token})

    assert response.status_code == 201


def test_bearer_token_writes_without_csrf_token():
    client = APIClient(enforce_csrf_checks=True)
    _, secret = AuthToken.objects.create(UserFactory(role="Editor"))
    response = send(
        client, "POST", "/catalog/register", Authorization=f"Bearer {secret}"
    )

    assert response.status_code == 201


def dump_database() -> str:
    """Return every column of every table, as text."""
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows += cursor.fetchall()
    return repr(rows)


def test_token_secret_is_not_stored():
    token, secret = AuthToken.objects.create(UserFactory(role="Viewer"))
    send(create_token_client(), "GET", "/catalog", Authorization=f"Bearer {secret}")
    stored = dump_database()

    assert token.digest in stored
    assert secret not in stored
    # Knox stores the beginning of a token to find it by; the rest is not stored.
    assert secret[len(token.token_key) :] not in stored


def test_token_expires_after_ninety_days_by_default():
    token, _ = AuthToken.objects.create(UserFactory())

    assert token.expiry - token.created == pytest.approx(
        timedelta(days=90), abs=timedelta(seconds=5)
    )


def test_expired_token_returns_401():
    user = UserFactory(role="Admin")
    _, secret = AuthToken.objects.create(user, expiry=timedelta(seconds=-1))
    response = send(
        create_token_client(), "GET", "/catalog", Authorization=f"Bearer {secret}"
    )

    assert_error_response(response, 401, "NOT_AUTHENTICATED")


def test_revoked_token_returns_401():
    client = create_client("Admin")
    AuthToken.objects.all().delete()

    assert_error_response(send(client, "GET", "/catalog"), 401, "NOT_AUTHENTICATED")


@pytest.mark.parametrize("build_client", [create_token_client, create_session_client])
def test_inactive_user_returns_401(build_client):
    user = UserFactory(role="Admin")
    client = build_client(user)
    assert send(client, "GET", "/catalog").status_code == 200

    user.is_active = False
    user.save()
    assert_error_response(send(client, "GET", "/catalog"), 401, "NOT_AUTHENTICATED")


def test_removed_role_takes_effect_at_once():
    user = UserFactory(role="Editor")
    client = create_token_client(user)
    user.groups.clear()

    assert_error_response(send(client, "GET", "/catalog"), 403, "PERMISSION_DENIED")


def test_superuser_needs_no_role():
    client = create_token_client(UserFactory(is_superuser=True))

    assert send(client, "DELETE", "/catalog/{}").status_code == 204


def get_permissions(role: str) -> set[str]:
    permissions = Group.objects.get(name=role).permissions
    pairs = permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in pairs}


@pytest.mark.parametrize("role", ROLES)
def test_group_has_exactly_the_permissions_of_its_role(role):
    assert get_permissions(role) == ROLES[role]


def test_each_role_includes_the_permissions_of_the_role_below():
    assert VIEWER < EDITOR < ADMIN
    assert all(".view_" in permission for permission in VIEWER)


def select_routing(permissions: set[str]) -> set[str]:
    return {name for name in permissions if name.startswith("routing.")}


def test_editor_can_delete_only_registrations():
    verbs = ("view", "add", "change", "delete")
    registration = {f"routing.{verb}_capabilityregistration" for verb in verbs}

    assert select_routing(VIEWER) == {"routing.view_capabilityregistration"}
    assert select_routing(EDITOR) == registration
    assert not any(".delete_" in permission for permission in EDITOR - registration)


def test_sync_roles_restores_permissions():
    Group.objects.get(name="Viewer").permissions.set(Permission.objects.all())
    Group.objects.get(name="Editor").permissions.clear()
    Group.objects.get(name="Admin").delete()
    sync_roles()

    assert {role: get_permissions(role) for role in ROLES} == ROLES


def test_sync_roles_keeps_members_and_other_groups():
    member = UserFactory(role="Editor")
    other_group = Group.objects.create(name="Auditors")
    sync_roles()
    sync_roles()

    assert member.groups.get().name == "Editor"
    assert other_group in Group.objects.all()
    assert Group.objects.count() == len(ROLES) + 1


def test_migrate_restores_role_permissions():
    Group.objects.get(name="Viewer").permissions.clear()
    call_command("migrate", verbosity=0)

    assert get_permissions("Viewer") == VIEWER


def test_unknown_entry_without_role_returns_403_instead_of_404():
    for method in ("GET", "PATCH", "DELETE"):
        response = create_client("no role").generic(
            method, f"/api/v1/catalog/{uuid4()}"
        )
        assert_error_response(response, 403, "PERMISSION_DENIED")
