"""AG-UI agents in, and AG-UI's question answered for agents of every protocol."""

import json
from pathlib import Path

import pytest
from ag_ui.core import AgentCapabilities

from capabilities.clients.agui import HttpAgent
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry
from catalog.registration.export import export_lines, import_line
from catalog.registration.service import import_url, refresh_entry, register
from tests import mcp_servers
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.published import mcp_definition
from tests.servers import LOOPBACK, never_respond, redirect, reply, run_server

pytestmark = pytest.mark.django_db

SHARED = Path(__file__).parents[5] / "shared" / "protocols" / "samples" / "agui"


def tool(name):
    return {"name": name, "description": f"{name}, and well", "parameters": {}}


def declaration(tools=5, **members):
    """An agent as AG-UI would have it declare itself."""
    return {
        "identity": {"name": "Painter", "version": "3.0", "provider": "Acme"},
        "transport": {"streaming": True, "websocket": False},
        "tools": {
            "supported": True,
            "items": [tool(f"paint_{n}") for n in range(tools)],
        },
        "multiAgent": {"subAgents": [{"name": "Critic"}]},
        "multimodal": {"imageInput": True},
        "custom": {"compliance": {"gdpr": True}},
    } | members


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with run_server() as server:
        declare(server)
        yield server


def declare(server, place="/agent/capabilities", **members):
    server.routes[place] = reply(body=json.dumps(declaration(**members)).encode())


def snapshot(client, entry):
    return client.get(f"/api/v1/catalog/{entry.pk}/capabilities")


def post(client, url, **members):
    given = {"url": url, "protocol": "agui"} | members
    told = {key: value for key, value in given.items() if value}
    return client.post("/api/v1/catalog/import", told, format="json")


def test_an_agent_is_imported_by_its_url(editor, server):
    body = post(editor, server.url("/agent")).json()

    assert (body["endpoint"], body["display_name"]) == (server.url("/agent"), "Painter")
    assert (body["status"], body["source_url"]) == (
        "active",
        server.url("/agent/capabilities"),
    )
    kinds = {capability["kind"] for capability in body["capabilities"]}
    assert kinds == {"agui.tool", "agui.subagent", "agent.feature"}


def test_the_place_where_it_tells_is_understood_too(editor, server):
    body = post(editor, server.url("/agent/capabilities")).json()

    assert body["endpoint"] == server.url("/agent")


def test_it_may_tell_elsewhere(editor, server):
    declare(server, "/meta")
    body = post(editor, server.url("/a"), capabilities_url=server.url("/meta")).json()

    assert (body["endpoint"], body["source_url"]) == (
        server.url("/a"),
        server.url("/meta"),
    )


@pytest.mark.parametrize("protocol", ["agui", ""])
@pytest.mark.parametrize(
    "itself",
    [b"{}", b'{"status": "ok", "state": {"uptime": 3}}', b"<html>"],
    ids=["nothing", "a health page", "a web page"],
)
def test_what_the_agent_answers_itself_is_no_declaration(
    editor, server, protocol, itself
):
    server.routes["/agent"] = reply(body=itself)
    body = post(editor, server.url("/agent"), protocol=protocol).json()

    assert body["source_url"] == server.url("/agent/capabilities")
    assert body["display_name"] == "Painter"


def test_an_agent_that_never_answers_a_get_is_imported_all_the_same(
    editor, server, settings
):
    settings.AGENTLENS_FIRST_URL_PATIENCE = 0.2
    server.routes["/agent"] = never_respond

    assert post(editor, server.url("/agent"), protocol="").status_code == 201


def test_a_declaration_in_a_file_does_not_say_whose_it_is(editor, server):
    declare(server, "/files/painter.json")
    url = server.url("/files/painter.json")
    answer = post(editor, url, protocol="")

    body = assert_error_response(answer, 502, "FETCH_FAILED")
    assert "does not contain the agent's endpoint" in body["error"]
    assert not CatalogEntry.objects.exists()
    told = post(editor, server.url("/agent"), protocol="", capabilities_url=url).json()
    assert (told["endpoint"], told["source_url"]) == (server.url("/agent"), url)


def test_one_that_declares_nothing_at_its_place_is_recognised(editor, server):
    server.routes["/quiet/capabilities"] = reply(body=b"{}")
    body = post(editor, server.url("/quiet"), protocol="").json()

    assert (body["protocol"], body["endpoint"]) == ("agui", server.url("/quiet"))


@pytest.mark.parametrize("status", [404, 405, 500])
def test_one_that_does_not_declare_is_told_what_to_do(editor, server, status):
    server.routes |= {"/live": reply(405), "/live/capabilities": reply(status)}
    body = assert_error_response(post(editor, server.url("/live")), 502, "FETCH_FAILED")

    assert f"returned HTTP {status}" in body["error"]
    assert "give its declaration and its endpoint" in body["error"]


def gated(request):
    known = request.headers["Authorization"] == "Bearer sesame"
    return [reply(body=json.dumps(declaration()).encode()) if known else reply(401)]


def test_one_behind_a_lock_is_opened_with_the_word_for_it(editor, server):
    server.routes["/agent/capabilities"] = gated
    closed = assert_error_response(
        post(editor, server.url("/agent")), 502, "FETCH_FAILED"
    )
    assert "authorization is required" in closed["error"]
    opened = post(editor, server.url("/agent"), authorization="Bearer sesame")
    assert opened.status_code == 201

    entry = CatalogEntry.objects.get()
    assert entry.changes.count() == 0
    refresh_entry(entry, "Bearer sesame")
    assert "sesame" not in "".join(export_lines())


def test_the_word_is_for_its_own_host_only(editor, server):
    with run_server() as other:
        declare(other, "/elsewhere")
        server.routes["/agent/capabilities"] = redirect(other.url("/elsewhere"))
        post(editor, server.url("/agent"), authorization="Bearer sesame")
        url = other.url("/elsewhere")
        given = {"authorization": "Bearer sesame", "capabilities_url": url}
        post(editor, server.url("/other"), **given)

    assert [r.headers["Authorization"] for r in other.requests] == [None] * len(
        other.requests
    )
    assert len(other.requests) >= 2


def test_who_keeps_the_declaration_does_not_vouch_for_the_agent(editor, server):
    declare(server, "/meta")
    with run_server() as gone:
        url = gone.url("/agent")
    body = post(editor, url, capabilities_url=server.url("/meta")).json()

    assert body["status"] == "degraded"
    assert body["health"]["lastError"] == "Connection refused or unreachable"


def test_elsewhere_is_guarded_as_well(editor, server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    answer = post(
        editor, "https://a.example", capabilities_url=server.url("/agent/capabilities")
    )

    assert_error_response(answer, 400, "URL_NOT_ALLOWED")


def test_a_pasted_declaration_needs_an_endpoint_or_a_name(editor):
    nameless = json.dumps({"transport": {"streaming": True}})
    place = "/api/v1/catalog/register"
    given = {"data": nameless, "content_type": "application/json"}

    assert_error_response(editor.post(place, **given), 422, "INVALID_DEFINITION")
    told = editor.post(f"{place}?endpoint=https://a.example/agent", **given).json()
    assert told["endpoint"] == "https://a.example/agent"
    bad = editor.post(f"{place}?endpoint=javascript:1", **given)
    assert_error_response(bad, 400, "INVALID_PARAMETER")


def test_one_without_an_address_is_declared_and_not_probed():
    entry = register(json.dumps(declaration()).encode()).entry

    assert (entry.agent_type.endpoint, entry.declared) == ("agui:Painter", True)


def test_its_tools_and_sub_agents_are_found_by_search(editor, server):
    post(editor, server.url("/agent"))
    found = editor.get("/api/v1/capabilities?q=paint_3").json()["items"]
    critic = editor.get("/api/v1/capabilities?q=critic&kind=agui.subagent").json()

    assert [item["kind"] for item in found] == ["agui.tool"]
    assert critic["total"] == 1


def test_its_own_declaration_is_given_back_in_both_spellings(viewer, server):
    entry = import_url(server.url("/agent"), "agui").entry
    body = snapshot(viewer, entry).json()

    assert body["multiAgent"]["subagents"] == body["multiAgent"]["subAgents"]
    assert body["multimodal"]["input"]["image"] is True
    assert body["multimodal"]["imageInput"] is True
    assert body["custom"] == {"compliance": {"gdpr": True}}
    assert AgentCapabilities.model_validate(body).transport.websocket is False


def test_five_tools_then_two_more(viewer, server):
    entry = import_url(server.url("/agent"), "agui").entry
    assert len(snapshot(viewer, entry).json()["tools"]["items"]) == 5

    declare(server, tools=7)
    refresh_entry(entry)
    assert len(snapshot(viewer, entry).json()["tools"]["items"]) == 7
    assert CatalogEntry.objects.count() == 1


def test_an_a2a_agent_supports_what_its_card_says_and_no_tools(viewer):
    body = snapshot(viewer, register(card_bytes()).entry).json()

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


def test_an_mcp_servers_tools_are_tools(viewer, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with mcp_servers.run_app(mcp_servers.notebook_app()) as address:
        entry = import_url(f"{address}/mcp").entry
    tools = snapshot(viewer, entry).json()["tools"]

    assert tools["supported"] is True
    assert [item["name"] for item in tools["items"]] == ["add_note"]
    assert tools["items"][0]["parameters"]["properties"].keys() == {"text"}


def test_strangers_unknown_agents_and_parameters_are_refused(viewer, client_for):
    entry = CatalogEntryFactory()

    assert_error_response(snapshot(client_for(None), entry), 403, "PERMISSION_DENIED")
    unknown = viewer.get("/api/v1/catalog/nobody/capabilities")
    assert_error_response(unknown, 404, "ENTRY_NOT_FOUND")
    place = f"/api/v1/catalog/{entry.pk}/capabilities?x=1"
    assert_error_response(viewer.get(place), 400, "INVALID_PARAMETER")


def test_what_a_curator_calls_it_is_not_what_it_says(viewer):
    entry = register(card_bytes(name="Translator")).entry
    curate(entry, {"display_name": "Ours", "description": "Ours"}, by=UserFactory())

    identity = snapshot(viewer, entry).json()["identity"]
    assert (identity["name"], identity["description"]) == ("Translator", "Translates")


def test_a_tool_is_told_by_the_name_it_is_called_by(viewer):
    server = mcp_definition("Stacks", "search", "search")
    entry = register(json.dumps(server).encode()).entry

    items = snapshot(viewer, entry).json()["tools"]["items"]
    assert [item["name"] for item in items] == ["search", "search"]


def test_a_flag_names_no_agent(viewer):
    nameless = {
        "url": "https://n.example/mcp",
        "capabilities": {"tools": False, "resources": {}},
    }
    entry = register(json.dumps(nameless).encode(), "mcp").entry

    assert entry.display_name == "https://n.example/mcp"
    assert "identity" not in snapshot(viewer, entry).json()


def test_whether_there_are_tools_or_sub_agents_may_be_asked(viewer):
    painter = register(json.dumps(declaration()).encode()).entry
    server = register(json.dumps(mcp_definition("Stacks", "search")).encode()).entry
    register(card_bytes())

    def found(feature):
        items = viewer.get(f"/api/v1/catalog?feature={feature}").json()["items"]
        return {item["id"] for item in items}

    assert found("tools.items") == {str(painter.pk), str(server.pk)}
    assert found("multiAgent.subAgents") == {str(painter.pk)}


def test_who_says_that_it_cannot_is_not_found_by_it(viewer):
    register(json.dumps(declaration()).encode())

    assert viewer.get("/api/v1/catalog?q=websocket").json()["total"] == 0
    assert viewer.get("/api/v1/catalog?q=streaming").json()["total"] == 1


def test_it_takes_one_query_however_many_tools(viewer, django_assert_num_queries):
    agent = register(json.dumps(declaration(tools=60)).encode()).entry
    skills = [skill(f"Skill {n}") for n in range(60)]
    other = register(card_bytes(skills=skills)).entry
    with django_assert_num_queries(1 + 1):
        snapshot(viewer, agent)
    with django_assert_num_queries(1 + 1):
        snapshot(viewer, other)


def test_filtering_by_what_they_support(viewer, server):
    painter = import_url(server.url("/agent"), "agui").entry
    register(card_bytes())
    asked = "feature=transport.streaming&feature=multimodal.input.image"
    found = viewer.get(f"/api/v1/catalog?{asked}").json()["items"]

    assert [item["id"] for item in found] == [str(painter.pk)]


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("full_1_0", True),
        ("langgraph", True),
        ("seed_proposal_shape", True),
        ("strands_ts_nonstandard", False),
    ],
)
def test_the_samples_import_as_they_should(editor, name, accepted):
    sample = SHARED / f"{name}.json"
    if not sample.exists():
        pytest.skip(f"{sample} is not here")
    answer = editor.post(
        "/api/v1/catalog/register?protocol=agui&endpoint=https://a.example/agent",
        data=sample.read_bytes(),
        content_type="application/json",
    )

    if accepted:
        assert answer.status_code == 201, answer.json()
    else:
        body = assert_error_response(answer, 422, "INVALID_DEFINITION")
        assert "Strands" in json.dumps(body)


@pytest.mark.django_db(transaction=True)
def test_the_client_reads_an_agent_and_the_catalog_alike(client_for, server, live):
    entry = import_url(server.url("/agent"), "agui").entry
    token = client_for("Viewer")._credentials["HTTP_AUTHORIZATION"]
    catalog = f"{live}/api/v1/catalog/{entry.pk}"
    with HttpAgent(server.url("/agent")) as direct:
        theirs = direct.get_capabilities()
    with HttpAgent(catalog, headers={"Authorization": token}) as through_us:
        ours = through_us.get_capabilities()

    assert theirs is not None
    assert ours is not None
    assert len(ours.tools.items) == len(theirs.tools.items) == 5
    assert ours.multi_agent.subagents == theirs.multi_agent.subagents


def test_it_is_registered_through_the_page_as_well(client, server):
    client.force_login(UserFactory(role="Editor"))
    given = {"url": server.url("/agent"), "protocol": "agui"}
    looked = client.post("/catalog/register", given)
    told = " ".join(looked.content.decode().split())
    client.post("/catalog/register", {"signed": looked.context["review"].signed})

    entry = CatalogEntry.objects.get()
    assert entry.agent_type.endpoint == server.url("/agent")
    assert entry.status == "active"
    # What it denies is not offered.
    denied = told.partition("transport.websocket")[2]
    assert denied.index('class="feature-value unsupported"') < denied.index("</li>")


def test_a_pasted_one_is_told_where_it_is(client):
    client.force_login(UserFactory(role="Editor"))
    nameless = json.dumps({"transport": {"streaming": True}})
    given = {"definition": nameless, "endpoint": "https://a.example/agent"}
    looked = client.post("/catalog/register", given)
    client.post("/catalog/register", {"signed": looked.context["review"].signed})

    assert CatalogEntry.objects.get().agent_type.endpoint == "https://a.example/agent"
    hostile = client.post("/catalog/register", given | {"endpoint": "javascript:1"})
    assert "The URL must" in hostile.content.decode()


def test_a_refresh_from_the_page_keeps_it_where_it_is(client, server):
    entry = import_url(server.url("/agent"), "agui").entry
    declare(server, tools=6)
    client.force_login(UserFactory(role="Editor"))
    place = f"/catalog/{entry.pk}/refresh"
    looked = client.post(place)
    client.post(place, {"signed": looked.context["look"].signed})

    assert entry.changes.count() == 1
    assert CatalogEntry.objects.count() == 1


def test_it_survives_an_export(server):
    import_url(server.url("/agent"), "agui")
    (line,) = export_lines()
    CatalogEntry.objects.all().delete()
    import_line(line)

    assert CatalogEntry.objects.get().agent_type.endpoint == server.url("/agent")
