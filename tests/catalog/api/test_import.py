import pytest
from rest_framework.test import APIClient

from catalog.models import CatalogEntry
from tests import mcp_servers
from tests.api_errors import assert_error_response
from tests.factories import card_bytes, skill
from tests.servers import LOOPBACK, redirect, reply, serving, silence

pytestmark = pytest.mark.django_db

IMPORT = "/api/v1/catalog/import"


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with serving() as server:
        server.routes["/card"] = reply(body=card_bytes(), etag='"1"')
        yield server


def post(client, url, **members):
    return client.post(IMPORT, {"url": url, **members}, format="json")


def test_a_new_agent_is_created_and_its_place_told(editor, server):
    response = post(editor, server.url("/card"))

    entry = CatalogEntry.objects.get()
    assert response.status_code == 201
    assert response["Location"].endswith(f"/api/v1/catalog/{entry.pk}")
    body = response.json()
    assert (body["id"], body["outcome"]) == (str(entry.pk), "created")
    assert body["source"] == "import"


def test_a_known_agent_is_left_or_brought_up_to_date(editor, server):
    post(editor, server.url("/card"))
    same = post(editor, server.url("/card"))
    skills = [skill(), skill("Summarise")]
    server.routes["/card"] = reply(body=card_bytes(skills=skills))
    other = post(editor, server.url("/card"))

    assert (same.status_code, same.json()["outcome"]) == (200, "unchanged")
    assert (other.status_code, other.json()["outcome"]) == (200, "updated")
    added = [{"kind": "a2a.skill", "name": "Summarise"}]
    assert other.json()["changes"]["added"] == added


def test_a_running_mcp_server_is_asked_with_the_header_given(editor, server):
    server.routes["/mcp"] = mcp_servers.gated
    closed = post(editor, server.url("/mcp"))
    opened = post(editor, server.url("/mcp"), authorization="Bearer sesame")

    assert_error_response(closed, 502, "FETCH_FAILED")
    assert opened.status_code == 201
    tools = [c for c in opened.json()["capabilities"] if c["kind"] == "mcp.tool"]
    assert [tool["name"] for tool in tools] == ["dig"]


@pytest.mark.parametrize("header", ["Bearer a\r\nX: y", "Bearer ä", "a\tb", "a\x00"])
def test_a_header_that_is_none_is_refused(editor, server, header):
    answer = post(editor, server.url("/mcp"), authorization=header)

    assert_error_response(answer, 400, "INVALID_BODY")
    assert server.requests == []


def test_a_bare_host_is_asked_at_its_known_paths(editor, server):
    server.routes["/.well-known/agent-card.json"] = reply(body=card_bytes())

    assert post(editor, server.url(), protocol="a2a").status_code == 201


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
def test_an_address_nobody_may_visit_is_refused(url, editor):
    assert_error_response(post(editor, url), 400, "URL_NOT_ALLOWED")


def test_a_redirect_does_not_open_what_is_closed(editor, server):
    server.routes["/card"] = redirect("http://169.254.169.254/hidden")

    body = assert_error_response(
        post(editor, server.url("/card")), 400, "URL_NOT_ALLOWED"
    )
    assert "hidden" not in str(body)


@pytest.mark.parametrize(
    "members",
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
        [],
        "http://agent.example",
    ],
)
def test_a_body_that_says_something_else_is_refused(members, editor):
    response = editor.post(IMPORT, members, format="json")
    assert_error_response(response, 400, "INVALID_BODY")


@pytest.mark.parametrize(
    "body", ["", "{", "\ufffe", '{"url": "\\ud800"}', "[[[[", "NaN"]
)
def test_a_body_that_is_no_json_is_refused(body, editor):
    response = editor.post(IMPORT, body, content_type="application/json")
    assert_error_response(response, 400, "INVALID_BODY")


def test_every_fault_of_a_definition_is_told_at_its_place(editor, server):
    faulty = card_bytes(name="", skills=[skill(""), 5])
    server.routes["/card"] = reply(body=faulty)
    response = post(editor, server.url("/card"))

    details = assert_error_response(response, 422, "INVALID_DEFINITION")["details"]
    assert details["protocol"] == "a2a"
    paths = {error["path"] for error in details["errors"]}
    assert {"$.name", "$.skills[0].name", "$.skills[1]"} <= paths
    assert not CatalogEntry.objects.exists()


def test_a_page_that_is_no_definition_is_told_as_one(editor, server):
    server.routes["/card"] = reply(body=b'{"hello": "world"}')

    body = assert_error_response(
        post(editor, server.url("/card")), 422, "PROTOCOL_NOT_DETECTED"
    )
    assert [error["path"] for error in body["details"]["errors"]] == ["$"]


def test_nothing_there_is_a_failed_fetch_that_keeps_the_path_to_itself(editor, server):
    response = post(editor, server.url("/hidden?token=hidden"))

    body = assert_error_response(response, 502, "FETCH_FAILED")
    assert body["error"] == "127.0.0.1 returned HTTP 404"


def test_a_silent_host_is_a_timeout(editor, server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes["/card"] = silence

    assert_error_response(post(editor, server.url("/card")), 504, "FETCH_TIMEOUT")


def test_a_viewer_may_not_import(viewer, server):
    response = post(viewer, server.url("/card"))

    assert_error_response(response, 403, "PERMISSION_DENIED")
    assert server.requests == []


def test_nobody_may_import_without_a_token(server, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    response = post(APIClient(), server.url("/card"))

    assert_error_response(response, 401, "NOT_AUTHENTICATED")
    assert server.requests == []
