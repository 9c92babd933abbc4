import pytest
from rest_framework.test import APIClient

from catalog.models import CatalogEntry
from tests import mcp_servers
from tests.api_errors import assert_error_response
from tests.factories import card_bytes, skill
from tests.servers import never_respond, redirect, reply

from .entries import IMPORT_URL, entry_url, select_capabilities

pytestmark = pytest.mark.django_db


def post_import(client, url, **members):
    return client.post(IMPORT_URL, {"url": url, **members}, format="json")


def test_import_of_new_agent_creates_entry_and_returns_its_url(editor_api, card_server):
    response = post_import(editor_api, card_server.url("/card"))

    entry = CatalogEntry.objects.get()
    assert response.status_code == 201
    assert response["Location"].endswith(entry_url(entry))
    body = response.json()
    assert (body["id"], body["outcome"]) == (str(entry.pk), "created")
    assert body["source"] == "import"


def test_import_of_registered_agent_updates_it_if_changed(editor_api, card_server):
    post_import(editor_api, card_server.url("/card"))
    unchanged = post_import(editor_api, card_server.url("/card"))
    skills = [skill(), skill("Summarize")]
    card_server.routes["/card"] = reply(body=card_bytes(skills=skills))
    updated = post_import(editor_api, card_server.url("/card"))

    assert (unchanged.status_code, unchanged.json()["outcome"]) == (200, "unchanged")
    assert (updated.status_code, updated.json()["outcome"]) == (200, "updated")
    added = [{"kind": "a2a.skill", "name": "Summarize", "breaking": False}]
    assert updated.json()["changes"]["added"] == added


def test_import_introspects_mcp_server_with_authorization_header(
    editor_api, card_server
):
    card_server.routes["/mcp"] = mcp_servers.answer_authorized_request
    url = card_server.url("/mcp")
    unauthorized = post_import(editor_api, url)
    authorized = post_import(editor_api, url, authorization="Bearer sesame")

    assert_error_response(unauthorized, 502, "FETCH_FAILED")
    assert authorized.status_code == 201
    tools = select_capabilities(authorized.json(), "mcp.tool")
    assert [tool["name"] for tool in tools] == ["dig"]


@pytest.mark.parametrize("header", ["Bearer a\r\nX: y", "Bearer ä", "a\tb", "a\x00"])
def test_import_rejects_invalid_authorization_header(editor_api, card_server, header):
    response = post_import(editor_api, card_server.url("/mcp"), authorization=header)

    assert_error_response(response, 400, "INVALID_BODY")
    assert card_server.requests == []


def test_import_from_host_url_tries_well_known_paths(editor_api, card_server):
    card_server.routes["/.well-known/agent-card.json"] = reply(body=card_bytes())
    response = post_import(editor_api, card_server.url(), protocol="a2a")

    assert response.status_code == 201


@pytest.mark.parametrize(
    "url",
    [
        "agent.example",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://user:word@agent.example/",
        "http://169.254.169.254/latest/meta-data",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal/",
        "http://2852039166/",
    ],
)
def test_import_rejects_url_that_is_not_public_http(url, editor_api):
    assert_error_response(post_import(editor_api, url), 400, "URL_NOT_ALLOWED")


def test_import_rejects_redirect_to_private_address(editor_api, card_server):
    card_server.routes["/card"] = redirect("http://169.254.169.254/hidden")
    response = post_import(editor_api, card_server.url("/card"))

    body = assert_error_response(response, 400, "URL_NOT_ALLOWED")
    assert "hidden" not in str(body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"protocol": "a2a"},
        {"url": ""},
        {"url": None},
        {"url": 5},
        {"url": True},
        {"url": ["http://agent.example"]},
        {"url": {"href": "http://agent.example"}},
        {"url": f"http://agent.example/{'a' * 2000}"},
        {"url": "http://agent.example", "protocol": "telepathy"},
        {"url": "http://agent.example", "protocol": 5},
        {"url": "http://agent.example", "protocol": ["a2a"]},
        {"url": "http://agent.example", "protocol": None},
        {"url": "http://agent.example", "surprise": 1},
        {"url": "http://agent.example", "allow_stub": "often"},
        [],
        "http://agent.example",
    ],
)
def test_import_rejects_body_with_invalid_members(body, editor_api):
    response = editor_api.post(IMPORT_URL, body, format="json")

    assert_error_response(response, 400, "INVALID_BODY")


@pytest.mark.parametrize(
    "body", ["", "{", "\ufffe", '{"url": "\\ud800"}', "[[[[", "NaN"]
)
def test_import_rejects_body_that_is_not_json(body, editor_api):
    response = editor_api.post(IMPORT_URL, body, content_type="application/json")

    assert_error_response(response, 400, "INVALID_BODY")


def test_import_reports_every_error_of_definition_with_its_path(
    editor_api, card_server
):
    invalid = card_bytes(name="", skills=[skill(""), 5])
    card_server.routes["/card"] = reply(body=invalid)
    response = post_import(editor_api, card_server.url("/card"))

    details = assert_error_response(response, 422, "INVALID_DEFINITION")["details"]
    assert details["protocol"] == "a2a"
    paths = {error["path"] for error in details["errors"]}
    assert {"$.name", "$.skills[0].name", "$.skills[1]"} <= paths
    assert not CatalogEntry.objects.exists()


def test_import_of_document_without_known_protocol_shows_message(
    editor_api, card_server
):
    card_server.routes["/card"] = reply(body=b'{"hello": "world"}')
    response = post_import(editor_api, card_server.url("/card"))

    body = assert_error_response(response, 422, "PROTOCOL_NOT_DETECTED")
    assert [error["path"] for error in body["details"]["errors"]] == ["$"]


def test_failed_fetch_does_not_reveal_query_of_url(editor_api, card_server):
    response = post_import(editor_api, card_server.url("/agent?token=hidden"))

    body = assert_error_response(response, 502, "FETCH_FAILED")
    assert "hidden" not in str(body)
    urls = [attempt["url"] for attempt in body["details"]["attempts"]]
    assert urls[0] == card_server.url("/agent?…")


def test_failed_import_lists_what_each_url_answered_t16(editor_api, card_server):
    response = post_import(editor_api, card_server.url("/agent"))

    details = assert_error_response(response, 502, "FETCH_FAILED")["details"]
    assert details["attempts"][0] == {
        "url": card_server.url("/agent"),
        "method": "GET",
        "status": 404,
        "result": "HTTP 404",
    }
    assert details["attempts"][1]["method"] == "MCP"
    assert details["can_be_stub"] is False


def test_invalid_definition_has_attempts_in_details(editor_api, card_server):
    card_server.routes["/card"] = reply(body=card_bytes(name=""))
    response = post_import(editor_api, card_server.url("/card"))

    details = assert_error_response(response, 422, "INVALID_DEFINITION")["details"]
    assert details["attempts"][0]["result"].startswith("200, an invalid A2A definition")


def test_guarded_agent_is_imported_as_stub_on_request(editor_api, card_server):
    card_server.routes["/mcp"] = mcp_servers.answer_authorized_request
    url = card_server.url("/mcp")
    rejected = post_import(editor_api, url)
    assert rejected.json()["details"]["can_be_stub"] is True
    accepted = post_import(editor_api, url, allow_stub=True)

    assert (accepted.status_code, accepted.json()["endpoint"]) == (201, url)
    problem = "Its definition needs authorization: only its address is known"
    assert accepted.json()["definition_problem"] == problem


def test_stub_of_agent_with_definition_returns_409(editor_api, card_server):
    card_server.routes["/mcp"] = mcp_servers.answer_authorized_request
    url = card_server.url("/mcp")
    post_import(editor_api, url, authorization="Bearer sesame")
    response = post_import(editor_api, url, allow_stub=True)

    assert_error_response(response, 409, "CONFLICT")


def test_import_from_unresponsive_host_returns_504(editor_api, card_server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    card_server.routes["/card"] = never_respond
    response = post_import(editor_api, card_server.url("/card"))

    assert_error_response(response, 504, "FETCH_TIMEOUT")


def test_import_by_viewer_returns_403(viewer_api, card_server):
    response = post_import(viewer_api, card_server.url("/card"))

    assert_error_response(response, 403, "PERMISSION_DENIED")
    assert card_server.requests == []


def test_import_without_token_returns_401(card_server, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    response = post_import(APIClient(), card_server.url("/card"))

    assert_error_response(response, 401, "NOT_AUTHENTICATED")
    assert card_server.requests == []
