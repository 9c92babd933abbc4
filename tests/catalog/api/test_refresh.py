import json

import pytest

from catalog.models import CatalogEntry, Source
from catalog.registration.service import import_url, register
from tests import mcp_servers
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.registered_agents import mcp_definition
from tests.servers import LOOPBACK, reply

from .entries import entry_url

pytestmark = pytest.mark.django_db


def post_refresh(client, entry, query="", **body):
    return client.post(entry_url(entry, "refresh") + query, body, format="json")


def rename_skill(server):
    server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))


def test_refresh_applies_and_returns_changes_and_marks_breaking_ones(
    editor_api, card_server, imported_entry
):
    rename_skill(card_server)
    body = post_refresh(editor_api, imported_entry).json()

    assert body["outcome"] == "updated"
    assert body["changes"] == {
        "added": [{"kind": "a2a.skill", "name": "Other", "breaking": False}],
        "removed": [{"kind": "a2a.skill", "name": "Translate text", "breaking": True}],
        "changed": [],
        "fields": [],
        "breaking": True,
        "breaking_count": 1,
        "breaking_reasons": ["A2A Skill Translate text: removed"],
    }
    skills = imported_entry.agent_type.capabilities.filter(kind="a2a.skill")
    assert [capability.name for capability in skills] == ["Other"]


def with_interfaces(*bindings):
    """Return card members with an interface for each binding."""
    return {
        "supportedInterfaces": [
            {
                "url": f"https://x.example/{binding}",
                "protocolBinding": binding,
                "protocolVersion": "1.0",
            }
            for binding in bindings
        ]
    }


def with_schemes(*schemes):
    """Return card members with these HTTP security schemes."""
    return {
        "securitySchemes": {
            scheme: {"httpAuthSecurityScheme": {"scheme": scheme}} for scheme in schemes
        }
    }


@pytest.mark.parametrize(
    ("before", "after", "removed_name"),
    [
        (
            with_interfaces("JSONRPC", "GRPC"),
            with_interfaces("JSONRPC"),
            "https://x.example/GRPC",
        ),
        (with_schemes("basic", "bearer"), with_schemes("basic"), "http (bearer)"),
        (with_schemes("basic", "bearer"), with_schemes("bearer"), "http"),
        (with_schemes("basic"), with_schemes("digest"), "http"),
    ],
    ids=["interface", "second scheme", "first scheme", "replaced scheme"],
)
def test_removed_interface_or_scheme_is_breaking(
    editor_api, card_server, before, after, removed_name
):
    card_server.routes["/card"] = reply(body=card_bytes(**before))
    entry = import_url(card_server.url("/card")).entry
    card_server.routes["/card"] = reply(body=card_bytes(**after))
    changes = post_refresh(editor_api, entry).json()["changes"]

    (removed,) = changes["removed"]
    assert (removed["name"], removed["breaking"]) == (removed_name, True)
    assert changes["changed"] == []


def test_removed_tool_is_breaking(editor_api, card_server):
    def set_tools(*names):
        document = mcp_definition("Stacks", *names, url=card_server.url("/mcp"))
        card_server.routes["/server.json"] = reply(body=json.dumps(document).encode())

    set_tools("search", "lend")
    entry = import_url(card_server.url("/server.json")).entry
    set_tools("search")
    (removed,) = post_refresh(editor_api, entry).json()["changes"]["removed"]

    assert removed == {"kind": "mcp.tool", "name": "lend", "breaking": True}


@pytest.mark.parametrize("was_supported", [True, False])
def test_removed_feature_is_breaking_if_it_was_supported(
    editor_api, card_server, was_supported
):
    before = card_bytes(capabilities={"streaming": was_supported})
    card_server.routes["/card"] = reply(body=before)
    entry = import_url(card_server.url("/card")).entry
    card_server.routes["/card"] = reply(body=card_bytes(capabilities={}))
    (removed,) = post_refresh(editor_api, entry).json()["changes"]["removed"]

    assert (removed["kind"], removed["breaking"]) == ("agent.feature", was_supported)


def test_dry_run_returns_changes_and_stores_nothing(
    editor_api, card_server, imported_entry
):
    rename_skill(card_server)
    body = post_refresh(editor_api, imported_entry, "?dry_run=true").json()

    assert [added["name"] for added in body["changes"]["added"]] == ["Other"]
    assert not imported_entry.changes.exists()


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_refresh_returns_changes_of_fields_with_what_breaks_clients_t14(
    editor_api, card_server, query
):
    def publish(version, **properties):
        tool = {"name": "search", "inputSchema": {"properties": properties}}
        document = mcp_definition("Stacks", tools=[tool], url=card_server.url("/mcp"))
        document["serverInfo"]["version"] = version
        card_server.routes["/server.json"] = reply(body=json.dumps(document).encode())

    publish("1.2.0", address={"properties": {"zip": {"type": "string"}}})
    entry = import_url(card_server.url("/server.json")).entry
    publish("1.3.0", address={"properties": {"zip": {"type": "integer"}}})
    changes = post_refresh(editor_api, entry, query).json()["changes"]

    assert changes["changed"] == [
        {
            "kind": "mcp.tool",
            "name": "search",
            "changes": [
                {
                    "field": "inputSchema",
                    "path": "address.zip",
                    "from": "string",
                    "to": "integer",
                    "breaking": True,
                    "reason": "type changed",
                }
            ],
            "omitted": 0,
        }
    ]
    assert changes["fields"] == [
        {
            "field": "version",
            "path": "",
            "from": "1.2.0",
            "to": "1.3.0",
            "breaking": False,
            "reason": "changed",
        }
    ]
    assert (changes["breaking"], changes["breaking_count"]) == (True, 1)
    assert changes["breaking_reasons"] == [
        "MCP Tool search: type changed (address.zip)"
    ]


def test_refresh_marks_new_required_extension_as_breaking(
    editor_api, card_server, imported_entry
):
    extensions = [{"uri": "https://a.example/ext", "required": True}]
    body = card_bytes(capabilities={"streaming": True, "extensions": extensions})
    card_server.routes["/card"] = reply(body=body)
    changes = post_refresh(editor_api, imported_entry).json()["changes"]

    (added,) = (item for item in changes["added"] if item["kind"] == "a2a.extension")
    assert added["breaking"] is True
    (reason,) = changes["breaking_reasons"]
    assert reason.endswith("https://a.example/ext: new and required")


def test_refresh_of_unchanged_definition_probes_agent(editor_api, imported_entry):
    last_probed_at = imported_entry.last_probed_at
    body = post_refresh(editor_api, imported_entry).json()

    assert (body["outcome"], body["status"]) == ("unchanged", "active")
    imported_entry.refresh_from_db()
    assert imported_entry.last_probed_at > last_probed_at


def test_refresh_of_pushed_definition_fetches_well_known_path_of_endpoint(
    editor_api, card_server
):
    url = card_server.url("/a2a")
    entry = register(card_bytes(url=url)).entry
    body = card_bytes(url=url, skills=[skill("Other")])
    card_server.routes["/.well-known/agent-card.json"] = reply(body=body)

    assert post_refresh(editor_api, entry).json()["outcome"] == "updated"
    entry.refresh_from_db()
    assert entry.source_url == card_server.url("/.well-known/agent-card.json")


def test_refresh_introspects_running_mcp_server(editor_api, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with mcp_servers.run_app(mcp_servers.notebook_app()) as url:
        entry = import_url(f"{url}/mcp").entry
        response = post_refresh(editor_api, entry)

    assert (response.status_code, response.json()["outcome"]) == (200, "unchanged")


def test_refresh_returns_409_if_url_publishes_another_agent(
    editor_api, card_server, imported_entry
):
    card = card_bytes(url="https://other.example/a2a")
    card_server.routes["/card"] = reply(body=card)
    response = post_refresh(editor_api, imported_entry)

    body = assert_error_response(response, 409, "CONFLICT")
    assert "https://other.example/a2a" in body["error"]
    assert CatalogEntry.objects.count() == 1


@pytest.mark.parametrize(
    "fields",
    [{"source": Source.DEMO}, {"agent_type__endpoint": "mcp:a"}],
    ids=["demo", "endpoint without URL"],
)
def test_refresh_of_entry_without_fetchable_definition_returns_409(editor_api, fields):
    response = post_refresh(editor_api, CatalogEntryFactory(**fields))

    assert_error_response(response, 409, "CONFLICT")


def test_refresh_of_invalid_or_missing_definition_is_an_error(
    editor_api, card_server, imported_entry
):
    card_server.routes["/card"] = reply(body=card_bytes(name=""))
    invalid = post_refresh(editor_api, imported_entry)
    assert_error_response(invalid, 422, "INVALID_DEFINITION")
    card_server.routes.pop("/card")
    missing = post_refresh(editor_api, imported_entry)
    assert_error_response(missing, 502, "FETCH_FAILED")


def test_failed_refresh_lists_what_the_url_answered_t16(
    editor_api, card_server, imported_entry
):
    card_server.routes["/card"] = reply(403, b"<html>")
    response = post_refresh(editor_api, imported_entry)

    details = assert_error_response(response, 502, "FETCH_FAILED")["details"]
    (attempt,) = details["attempts"]
    assert (attempt["url"], attempt["status"]) == (card_server.url("/card"), 403)
    assert attempt["result"] == "refused the request (HTTP 403)"


def test_refresh_rejects_invalid_parameters_and_body(editor_api, imported_entry):
    invalid_value = post_refresh(editor_api, imported_entry, "?dry_run=maybe")
    unknown_parameter = post_refresh(editor_api, imported_entry, "?force=1")
    unknown_member = post_refresh(editor_api, imported_entry, token="x")

    assert_error_response(invalid_value, 400, "INVALID_PARAMETER")
    assert_error_response(unknown_parameter, 400, "INVALID_PARAMETER")
    assert_error_response(unknown_member, 400, "INVALID_BODY")


def test_refresh_by_viewer_returns_403(viewer_api, imported_entry):
    response = post_refresh(viewer_api, imported_entry)

    assert_error_response(response, 403, "PERMISSION_DENIED")
