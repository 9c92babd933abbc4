"""Requests with an invalid body, content type or parameter."""

import pytest

from routing.models import CapabilityRegistration
from tests.api_errors import assert_error_response
from tests.routing.api.requests import REGISTRY_URL, register, unregister, update
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

INVALID_URLS = [
    "health",
    "//evil.example/health",
    "///evil.example/health",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "ftp://a.example/",
    "https://",
    "https://a.example:port/",
    "https://a b.example/",
    "https://user:secret@a.example/health",
    "/a b",
    # urljoin() drops the line break.
    "/\n/evil.example/health",
    "/" + "x" * 2000,
]
INVALID_MEMBERS = {
    "boolean priority": {"priority": True},
    "string priority": {"priority": "5"},
    "fractional priority": {"priority": 1.5},
    "float priority": {"priority": 5.0},
    "negative priority": {"priority": -1},
    "priority of 1001": {"priority": 1001},
    "null priority": {"priority": None},
    "list priority": {"priority": [1]},
    "list metadata": {"metadata": ["a"]},
    "string metadata": {"metadata": "a"},
    "number metadata": {"metadata": 1},
    "null metadata": {"metadata": None},
    "NUL in metadata": {"metadata": {"a": "\0"}},
    "number version": {"version": 1},
    "null version": {"version": None},
    "metadata over 64 KiB": {"metadata": {"a": "x" * 65_536}},
    "number URL": {"health_check_url": 5},
    "unknown member": {"color": "red"},
    "read-only member": {"registered_at": "2026-01-01T00:00:00Z"},
    **{f"URL {ascii(url)[:40]}": {"health_check_url": url} for url in INVALID_URLS},
}


@pytest.mark.parametrize(
    "members", INVALID_MEMBERS.values(), ids=INVALID_MEMBERS.keys()
)
def test_register_with_invalid_member_returns_400(editor_api, members):
    assert_error_response(register(editor_api, **members), 400, "INVALID_BODY")
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.parametrize(
    "members", INVALID_MEMBERS.values(), ids=INVALID_MEMBERS.keys()
)
def test_update_with_invalid_member_returns_400(editor_api, members):
    registration = RegistrationFactory(priority=7)
    response = update(editor_api, registration, **({"priority": 8} | members))

    assert_error_response(response, 400, "INVALID_BODY")
    registration.refresh_from_db()
    assert registration.priority == 7


@pytest.mark.parametrize("member", ["agent_id", "capability"])
@pytest.mark.parametrize("value", [None, 5, True, ["a"], {"a": 1}], ids=repr)
def test_agent_id_or_capability_of_wrong_type_returns_400(editor_api, member, value):
    response = register(editor_api, **{member: value})
    body = assert_error_response(response, 400, "INVALID_BODY")

    assert list(body["details"]["errors"]) == [member]


@pytest.mark.parametrize(
    ("member", "code"),
    [("agent_id", "INVALID_AGENT_ID"), ("capability", "INVALID_CAPABILITY_NAME")],
)
def test_empty_agent_id_or_capability_returns_400(editor_api, member, code):
    assert_error_response(register(editor_api, **{member: ""}), 400, code)


def test_agent_id_and_capability_are_required(editor_api):
    body = assert_error_response(
        editor_api.post(REGISTRY_URL, {}, format="json"), 400, "INVALID_BODY"
    )

    assert set(body["details"]["errors"]) == {"agent_id", "capability"}


@pytest.mark.parametrize("raw", ["", "{", "[]", "null", '"a"', '{"priority": NaN}'])
def test_body_that_is_not_an_object_returns_400(editor_api, raw):
    content_type = "application/json"
    responses = [
        editor_api.post(REGISTRY_URL, raw, content_type=content_type),
        editor_api.put(
            f"{REGISTRY_URL}/{RegistrationFactory().pk}", raw, content_type=content_type
        ),
    ]

    for response in responses:
        assert_error_response(response, 400, "INVALID_BODY")


def test_registry_write_with_unsupported_content_type_returns_415(editor_api):
    response = editor_api.post(REGISTRY_URL, {"agent_id": "a"}, format="multipart")

    assert_error_response(response, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_write_with_unknown_parameter_returns_400(editor_api):
    registration = RegistrationFactory()
    responses = [
        editor_api.post(f"{REGISTRY_URL}?force=true", {}, format="json"),
        editor_api.put(
            f"{REGISTRY_URL}/{registration.pk}?force=true",
            {"priority": 1},
            format="json",
        ),
        unregister(editor_api, registration, "?force=true"),
        unregister(editor_api, registration, "?drain=yes"),
    ]

    for response in responses:
        assert_error_response(response, 400, "INVALID_PARAMETER")
    assert CapabilityRegistration.objects.get().priority == 50
