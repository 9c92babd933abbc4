"""AG-UI: importing its agents, and its capabilities document for any agent."""

import json

import pytest
from ag_ui.core import AgentCapabilities

from capabilities.clients.agui import HttpAgent
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry
from catalog.registration.export import export_lines, import_line
from catalog.registration.service import import_url, refresh_entry, register
from tests import mcp_servers
from tests.api_errors import assert_error_response
from tests.capabilities.protocols.agui.declarations import SAMPLES
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.registered_agents import mcp_definition
from tests.servers import LOOPBACK, never_respond, redirect, reply, run_server

from .declarations import build_declaration, serve_declaration

pytestmark = pytest.mark.django_db


def get_capabilities(client, entry):
    return client.get(f"/api/v1/catalog/{entry.pk}/capabilities")


def post_import(client, url, **members):
    """Import an agent; empty members are left out of the request."""
    body = {"url": url, "protocol": "agui"} | members
    present = {key: value for key, value in body.items() if value}
    return client.post("/api/v1/catalog/import", present, format="json")


def test_import_by_agent_url_creates_entry(editor_api, server):
    body = post_import(editor_api, server.url("/agent")).json()

    assert (body["display_name"], body["status"]) == ("Painter", "active")
    assert body["endpoint"] == server.url("/agent")
    assert body["source_url"] == server.url("/agent/capabilities")
    kinds = {capability["kind"] for capability in body["capabilities"]}
    assert kinds == {"agui.tool", "agui.subagent", "agent.feature"}


def test_import_by_capabilities_url_finds_agent_url(editor_api, server):
    body = post_import(editor_api, server.url("/agent/capabilities")).json()

    assert body["endpoint"] == server.url("/agent")


def test_import_with_separate_capabilities_url_uses_that_url(editor_api, server):
    serve_declaration(server, "/meta")
    capabilities_url = server.url("/meta")
    response = post_import(
        editor_api, server.url("/a"), capabilities_url=capabilities_url
    )

    body = response.json()
    assert body["endpoint"] == server.url("/a")
    assert body["source_url"] == capabilities_url


@pytest.mark.parametrize("protocol", ["agui", ""])
@pytest.mark.parametrize(
    "response_body",
    [b"{}", b'{"status": "ok", "state": {"uptime": 3}}', b"<html>"],
    ids=["empty-object", "health-page", "web-page"],
)
def test_import_ignores_response_of_the_agent_url_itself(
    editor_api, server, protocol, response_body
):
    server.routes["/agent"] = reply(body=response_body)
    body = post_import(editor_api, server.url("/agent"), protocol=protocol).json()

    assert body["source_url"] == server.url("/agent/capabilities")
    assert body["display_name"] == "Painter"


def test_import_of_agent_that_never_responds_to_get_creates_entry(
    editor_api, server, settings
):
    settings.AGENTLENS_FIRST_URL_WAIT = 0.2
    server.routes["/agent"] = never_respond

    assert post_import(editor_api, server.url("/agent"), protocol="").status_code == 201


def test_import_of_declaration_file_needs_the_agent_url(editor_api, server):
    serve_declaration(server, "/files/painter.json")
    url = server.url("/files/painter.json")
    response = post_import(editor_api, url, protocol="")

    body = assert_error_response(response, 502, "FETCH_FAILED")
    assert "lack the agent's endpoint" in body["error"]
    assert not CatalogEntry.objects.exists()
    agent_url = server.url("/agent")
    imported = post_import(
        editor_api, agent_url, protocol="", capabilities_url=url
    ).json()
    assert (imported["endpoint"], imported["source_url"]) == (agent_url, url)


def test_import_detects_agent_with_empty_declaration(editor_api, server):
    server.routes["/quiet/capabilities"] = reply(body=b"{}")
    body = post_import(editor_api, server.url("/quiet"), protocol="").json()

    assert (body["protocol"], body["endpoint"]) == ("agui", server.url("/quiet"))


@pytest.mark.parametrize("status", [404, 405, 500])
def test_import_without_declaration_explains_what_to_submit(editor_api, server, status):
    server.routes |= {"/live": reply(405), "/live/capabilities": reply(status)}
    body = assert_error_response(
        post_import(editor_api, server.url("/live")), 502, "FETCH_FAILED"
    )

    assert f"returned HTTP {status}" in body["error"]
    assert "submit its declaration and its endpoint" in body["error"]


def answer_authorized_request(request):
    if request.headers["Authorization"] != "Bearer sesame":
        return [reply(401)]
    return [reply(body=json.dumps(build_declaration()).encode())]


def test_import_with_authorization_succeeds_and_is_not_stored(editor_api, server):
    server.routes["/agent/capabilities"] = answer_authorized_request
    rejected = post_import(editor_api, server.url("/agent"))
    body = assert_error_response(rejected, 502, "FETCH_FAILED")
    assert "authorization is required" in body["error"]
    accepted = post_import(
        editor_api, server.url("/agent"), authorization="Bearer sesame"
    )
    assert accepted.status_code == 201

    entry = CatalogEntry.objects.get()
    assert entry.changes.count() == 0
    refresh_entry(entry, "Bearer sesame")
    assert "sesame" not in "".join(export_lines())


def test_authorization_is_not_sent_to_other_hosts(editor_api, server):
    with run_server() as other:
        serve_declaration(other, "/elsewhere")
        server.routes["/agent/capabilities"] = redirect(other.url("/elsewhere"))
        post_import(editor_api, server.url("/agent"), authorization="Bearer sesame")
        url = other.url("/elsewhere")
        members = {"authorization": "Bearer sesame", "capabilities_url": url}
        post_import(editor_api, server.url("/other"), **members)

    assert len(other.requests) >= 2
    assert {request.headers["Authorization"] for request in other.requests} == {None}


def test_declaration_of_other_host_does_not_make_agent_active(editor_api, server):
    serve_declaration(server, "/meta")
    with run_server() as stopped_server:
        url = stopped_server.url("/agent")
    body = post_import(editor_api, url, capabilities_url=server.url("/meta")).json()

    assert body["status"] == "degraded"
    assert body["health"]["lastError"] == (
        "The connection was refused or the host is unreachable"
    )


def test_import_rejects_private_capabilities_url(editor_api, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    response = post_import(
        editor_api,
        "https://a.example",
        capabilities_url=server.url("/agent/capabilities"),
    )

    assert_error_response(response, 400, "URL_NOT_ALLOWED")


def test_register_needs_endpoint_or_name(editor_api):
    nameless = json.dumps({"transport": {"streaming": True}})
    url = "/api/v1/catalog/register"
    body = {"data": nameless, "content_type": "application/json"}

    assert_error_response(editor_api.post(url, **body), 422, "INVALID_DEFINITION")
    registered = editor_api.post(
        f"{url}?endpoint=https://a.example/agent", **body
    ).json()
    assert registered["endpoint"] == "https://a.example/agent"
    rejected = editor_api.post(f"{url}?endpoint=javascript:1", **body)
    assert_error_response(rejected, 400, "INVALID_PARAMETER")


def test_agent_without_endpoint_is_declared():
    entry = register(json.dumps(build_declaration()).encode()).entry

    assert (entry.agent_type.endpoint, entry.declared) == ("agui:Painter", True)


def test_search_finds_tools_and_subagents(editor_api, server):
    post_import(editor_api, server.url("/agent"))
    tools = editor_api.get("/api/v1/capabilities?q=paint_3").json()["items"]
    subagents = editor_api.get(
        "/api/v1/capabilities?q=critic&kind=agui.subagent"
    ).json()

    assert [item["kind"] for item in tools] == ["agui.tool"]
    assert subagents["total"] == 1


def test_capabilities_have_old_and_new_member_names(viewer_api, server):
    entry = import_url(server.url("/agent"), "agui").entry
    body = get_capabilities(viewer_api, entry).json()

    assert body["multiAgent"]["subagents"] == body["multiAgent"]["subAgents"]
    assert body["multimodal"]["input"]["image"] is True
    assert body["multimodal"]["imageInput"] is True
    assert body["custom"] == {"compliance": {"gdpr": True}}
    assert AgentCapabilities.model_validate(body).transport.websocket is False


def test_refresh_adds_new_tools_to_capabilities(viewer_api, server):
    entry = import_url(server.url("/agent"), "agui").entry
    assert len(get_capabilities(viewer_api, entry).json()["tools"]["items"]) == 5

    serve_declaration(server, tools=7)
    refresh_entry(entry)
    assert len(get_capabilities(viewer_api, entry).json()["tools"]["items"]) == 7
    assert CatalogEntry.objects.count() == 1


def test_capabilities_of_a2a_agent_come_from_its_card(viewer_api):
    body = get_capabilities(viewer_api, register(card_bytes()).entry).json()

    assert body == {
        "identity": {
            "name": "Translator",
            "description": "Translates",
            "version": "1.0.0",
            "provider": "Acme",
        },
        "transport": {"streaming": True},
        "output": {"supportedMimeTypes": ["text/plain"]},
    }


def test_capabilities_of_mcp_server_contain_its_tools(viewer_api, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with mcp_servers.run_app(mcp_servers.notebook_app()) as base_url:
        entry = import_url(f"{base_url}/mcp").entry
    tools = get_capabilities(viewer_api, entry).json()["tools"]

    assert tools["supported"] is True
    assert [item["name"] for item in tools["items"]] == ["add_note"]
    assert tools["items"][0]["parameters"]["properties"].keys() == {"text"}


def test_invalid_capabilities_requests_are_rejected(viewer_api, api_client_for_role):
    entry = CatalogEntryFactory()

    assert_error_response(
        get_capabilities(api_client_for_role(None), entry), 403, "PERMISSION_DENIED"
    )
    response = viewer_api.get("/api/v1/catalog/unknown/capabilities")
    assert_error_response(response, 404, "ENTRY_NOT_FOUND")
    url = f"/api/v1/catalog/{entry.pk}/capabilities?x=1"
    assert_error_response(viewer_api.get(url), 400, "INVALID_PARAMETER")


def test_capabilities_identity_ignores_curated_fields(viewer_api):
    entry = register(card_bytes(name="Translator")).entry
    curate(entry, {"display_name": "Ours", "description": "Ours"}, by=UserFactory())

    identity = get_capabilities(viewer_api, entry).json()["identity"]
    assert (identity["name"], identity["description"]) == ("Translator", "Translates")


def test_capabilities_keep_duplicate_tool_names(viewer_api):
    definition = mcp_definition("Stacks", "search", "search")
    entry = register(json.dumps(definition).encode()).entry

    items = get_capabilities(viewer_api, entry).json()["tools"]["items"]
    assert [item["name"] for item in items] == ["search", "search"]


def test_agent_is_not_named_after_a_feature(viewer_api):
    definition = {
        "url": "https://n.example/mcp",
        "capabilities": {"tools": False, "resources": {}},
    }
    entry = register(json.dumps(definition).encode(), "mcp").entry

    assert entry.display_name == "https://n.example/mcp"
    assert "identity" not in get_capabilities(viewer_api, entry).json()


def test_feature_filter_finds_agents_with_tools_or_subagents(viewer_api):
    agui_entry = register(json.dumps(build_declaration()).encode()).entry
    mcp_entry = register(json.dumps(mcp_definition("Stacks", "search")).encode()).entry
    register(card_bytes())

    def find_ids(feature):
        items = viewer_api.get(f"/api/v1/catalog?feature={feature}").json()["items"]
        return {item["id"] for item in items}

    assert find_ids("tools.items") == {str(agui_entry.pk), str(mcp_entry.pk)}
    assert find_ids("multiAgent.subAgents") == {str(agui_entry.pk)}


def test_search_does_not_find_unsupported_features(viewer_api):
    register(json.dumps(build_declaration()).encode())

    assert viewer_api.get("/api/v1/catalog?q=websocket").json()["total"] == 0
    assert viewer_api.get("/api/v1/catalog?q=streaming").json()["total"] == 1


def test_capabilities_query_count_is_independent_of_number_of_tools(
    viewer_api, django_assert_num_queries
):
    agui_entry = register(json.dumps(build_declaration(tools=60)).encode()).entry
    skills = [skill(f"Skill {n}") for n in range(60)]
    a2a_entry = register(card_bytes(skills=skills)).entry
    with django_assert_num_queries(1 + 1):
        get_capabilities(viewer_api, agui_entry)
    with django_assert_num_queries(1 + 1):
        get_capabilities(viewer_api, a2a_entry)


def test_feature_filter_combines_features(viewer_api, server):
    entry = import_url(server.url("/agent"), "agui").entry
    register(card_bytes())
    query = "feature=transport.streaming&feature=multimodal.input.image"
    items = viewer_api.get(f"/api/v1/catalog?{query}").json()["items"]

    assert [item["id"] for item in items] == [str(entry.pk)]


@pytest.mark.parametrize(
    ("name", "is_accepted"),
    [
        ("full_1_0", True),
        ("langgraph", True),
        ("seed_proposal_shape", True),
        ("strands_ts_nonstandard", False),
    ],
)
def test_register_accepts_or_rejects_sample(editor_api, name, is_accepted):
    path = SAMPLES / f"agui/{name}.json"
    if not path.exists():
        pytest.skip(f"There is no {path}")
    response = editor_api.post(
        "/api/v1/catalog/register?protocol=agui&endpoint=https://a.example/agent",
        data=path.read_bytes(),
        content_type="application/json",
    )

    if is_accepted:
        assert response.status_code == 201, response.json()
    else:
        body = assert_error_response(response, 422, "INVALID_DEFINITION")
        assert "Strands" in json.dumps(body)


@pytest.mark.django_db(transaction=True)
def test_client_reads_same_capabilities_from_agent_and_catalog(
    api_client_for_role, server, agentlens_url
):
    entry = import_url(server.url("/agent"), "agui").entry
    token = api_client_for_role("Viewer")._credentials["HTTP_AUTHORIZATION"]
    catalog_url = f"{agentlens_url}/api/v1/catalog/{entry.pk}"
    with HttpAgent(server.url("/agent")) as agent_client:
        from_agent = agent_client.get_capabilities()
    with HttpAgent(catalog_url, headers={"Authorization": token}) as catalog_client:
        from_catalog = catalog_client.get_capabilities()

    assert from_agent is not None
    assert from_catalog is not None
    assert len(from_catalog.tools.items) == len(from_agent.tools.items) == 5
    assert from_catalog.multi_agent.subagents == from_agent.multi_agent.subagents


def test_export_and_import_keep_agent(server):
    import_url(server.url("/agent"), "agui")
    (line,) = export_lines()
    CatalogEntry.objects.all().delete()
    import_line(line)

    assert CatalogEntry.objects.get().agent_type.endpoint == server.url("/agent")
