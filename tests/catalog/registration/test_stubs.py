"""Agents that are registered without their definition, which needs authorization."""

import asyncio
import json

import pytest

from capabilities.parsers import get_connection
from catalog.discovery import get_failed_search
from catalog.models import CatalogEntry, Source, Status
from catalog.outbound.errors import AuthorizationRequired, FetchFailed
from catalog.registration import AlreadyDefined
from catalog.registration.refresh import refresh_due_entries
from catalog.registration.service import (
    import_resolved,
    import_url,
    refresh_entry,
    register,
    resolve_url,
)
from tests import mcp_servers
from tests.factories import card_bytes
from tests.registered_agents import mcp_definition
from tests.servers import (
    never_respond,
    redirect,
    reply,
    run_server,
    send_endless_body,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("allow_one_address"),
]

TOKEN = "Bearer sesame"
CARD_PATH = "/.well-known/agent-card.json"
METADATA_PATH = "/.well-known/oauth-protected-resource/mcp"
PROBLEM = "Its definition needs authorization: only its address is known"


def guard(server, path="/mcp", challenge=""):
    """Serve an MCP server that answers 401, with this challenge, without the token."""
    headers = {"www_authenticate": challenge} if challenge else {}

    def route(request):
        if request.headers["Authorization"] != TOKEN:
            return [reply(401, **headers)]
        return mcp_servers.answer_legacy_request(request)

    server.routes[path] = route


def publish_metadata(server, path=METADATA_PATH, **members):
    document = {
        "resource": server.url("/mcp"),
        "resource_name": "The Vault",
        "authorization_servers": ["https://login.example.com"],
        "scopes_supported": ["notes:read", "notes:write"],
    }
    server.routes[path] = reply(body=json.dumps(document | members).encode())


def import_stub(url, **options):
    return import_url(url, allow_stub=True, **options).entry


def get_credentials(entry):
    agent_type = entry.agent_type
    return get_connection(agent_type.definition, agent_type.protocol).credentials


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_guarded_mcp_server_becomes_a_stub_on_request_t16(server, path):
    guard(server)
    with pytest.raises(AuthorizationRequired) as raised:
        import_url(server.url(path))
    assert get_failed_search(raised.value).can_be_stub
    assert not CatalogEntry.objects.exists()

    result = import_url(server.url(path), allow_stub=True)
    entry = result.entry
    assert (entry.display_name, entry.status) == ("127.0.0.1", Status.ACTIVE)
    assert entry.agent_type.endpoint == entry.source_url == server.url("/mcp")
    assert (entry.source, entry.authorized) == (Source.IMPORT, False)
    assert entry.definition_problem == result.warnings[0].message == PROBLEM


def test_refresh_with_authorization_replaces_the_stub_t16(server):
    guard(server)
    stub = import_stub(server.url("/mcp"))
    result = refresh_entry(stub, TOKEN)

    assert result.replaced_name == ""
    entry = CatalogEntry.objects.get()
    assert (entry.pk, entry.display_name) == (stub.pk, "legacy")
    assert (entry.definition_problem, entry.authorized) == ("", True)
    tools = entry.agent_type.capabilities.filter(kind="mcp.tool")
    assert [tool.name for tool in tools] == ["dig"]
    assert "agentlens/stub" not in entry.agent_type.definition.decode()


def test_stub_has_name_servers_and_scopes_of_metadata(server):
    challenge = f'Bearer realm="x", resource_metadata="{server.url("/meta")}"'
    guard(server, challenge=challenge)
    publish_metadata(server, "/meta")
    entry = import_stub(server.url("/mcp"))

    assert entry.display_name == "The Vault"
    (credential,) = get_credentials(entry)
    server_and_scopes = "https://login.example.com, scopes notes:read notes:write"
    assert credential == f"OAuth 2.0, authorization server {server_and_scopes}"


@pytest.mark.parametrize("path", [METADATA_PATH, METADATA_PATH.removesuffix("/mcp")])
def test_metadata_is_read_from_well_known_path(server, path):
    guard(server)
    publish_metadata(server, path)

    assert import_stub(server.url("/mcp")).display_name == "The Vault"


def test_metadata_names_the_endpoint_of_a_guarded_host(server):
    """A gateway that answers 401 everywhere does not show which URL is the agent's."""
    challenge = f'Bearer resource_metadata="{server.url("/meta")}"'
    for path in ("", "/", "/mcp", "/sse", CARD_PATH):
        guard(server, path, challenge)
    publish_metadata(server, "/meta")
    entry = import_stub(server.url())

    assert entry.agent_type.endpoint == server.url("/mcp")


@pytest.mark.parametrize(
    "route",
    [
        reply(404),
        reply(body=b"<html>"),
        reply(body=b"[]"),
        reply(body=b"{}"),
        redirect("http://169.254.169.254/hidden"),
        redirect("http://127.0.0.2/hidden"),
        send_endless_body,
    ],
    ids=["404", "html", "list", "empty", "metadata host", "private", "endless"],
)
def test_stub_needs_no_valid_metadata(server, route):
    challenge = f'Bearer resource_metadata="{server.url("/meta")}"'
    guard(server, challenge=challenge)
    server.routes["/meta"] = route
    entry = import_stub(server.url("/mcp"))

    assert entry.display_name == "127.0.0.1"
    assert get_credentials(entry) == ["Required; the server does not say which kind"]


def test_silent_metadata_does_not_exceed_the_time_of_a_fetch(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 1
    guard(server)
    server.routes[METADATA_PATH] = never_respond

    assert import_stub(server.url("/mcp")).display_name == "127.0.0.1"


def test_metadata_at_other_origin_is_neither_requested_nor_used(server):
    with run_server() as other:
        challenge = f'Bearer resource_metadata="{other.url("/meta")}"'
        guard(server, challenge=challenge)
        publish_metadata(other, "/meta", resource=server.url("/mcp"))
        entry = import_stub(server.url("/mcp"))

    assert other.requests == []
    assert entry.display_name == "127.0.0.1"


@pytest.mark.parametrize(
    "resource",
    ["https://other.example/mcp", "/mcp", 5, None, "http://127.0.0.1:1/mcp", "path"],
)
def test_metadata_of_other_resource_is_not_used(server, resource):
    guard(server)
    resource = server.url("/other") if resource == "path" else resource
    publish_metadata(server, resource=resource)

    assert import_stub(server.url("/mcp")).display_name == "127.0.0.1"


def test_unusable_members_of_metadata_are_left_out(server):
    guard(server)
    publish_metadata(
        server,
        resource_name="\x1b[31mThe\u202e Vault\n" + "x" * 1000,
        authorization_servers=["javascript:alert(1)", 5, "https://a.example"] * 50,
        scopes_supported=["two words", "", "x" * 1000, "ok", "\x07", None],
    )
    entry = import_stub(server.url("/mcp"))

    assert entry.display_name.startswith("[31mThe Vaultxxx")
    assert len(entry.display_name) == 200
    (credential,) = get_credentials(entry)
    assert credential.endswith("https://a.example, scopes ok")
    assert credential.count("https://a.example") == 10
    assert "javascript" not in credential


def test_metadata_is_requested_without_authorization(server):
    guard(server)
    publish_metadata(server)
    import_stub(server.url("/mcp"), authorization="Bearer wrong")

    (request,) = [item for item in server.requests if item.path == METADATA_PATH]
    assert request.headers["Authorization"] is None


def test_server_that_refuses_requests_becomes_a_stub_that_says_so(server):
    server.routes["/mcp"] = reply(403, b"Blocked")
    entry = import_stub(server.url("/mcp"))

    assert entry.definition_problem == (
        "Its server refused to give its definition (HTTP 403): only its address is"
        " known"
    )


def test_guarded_agent_card_becomes_a_stub_that_finds_its_endpoint(server):
    """Only the card says which endpoint the agent has."""

    def route(request):
        is_authorized = request.headers["Authorization"] == TOKEN
        card = card_bytes(url=server.url("/a2a"))
        return [reply(body=card) if is_authorized else reply(401)]

    server.routes[CARD_PATH] = route
    stub = import_stub(server.url(), protocol="a2a")
    assert (stub.agent_type.protocol, stub.agent_type.endpoint) == ("a2a", server.url())
    assert stub.definition_problem == PROBLEM
    assert get_credentials(stub) == ["HTTP authentication"]
    refresh_entry(stub, TOKEN)

    entry = CatalogEntry.objects.get()
    assert (entry.pk, entry.display_name) == (stub.pk, "Translator")
    assert entry.agent_type.endpoint == server.url("/a2a")
    assert entry.agent_key == entry.agent_type.agent_key
    assert refresh_entry(entry, TOKEN).outcome == "unchanged"


def test_stub_of_registered_agent_is_not_refreshed_to_a_second_entry(server):
    server.routes[CARD_PATH] = reply(401)
    stub = import_stub(server.url(), protocol="a2a")
    register(card_bytes(url=server.url("/a2a")))
    server.routes[CARD_PATH] = reply(body=card_bytes(url=server.url("/a2a")))
    with pytest.raises(Exception, match="already has this agent"):
        refresh_entry(stub)

    assert CatalogEntry.objects.count() == 2


def test_stub_does_not_replace_a_known_definition(server):
    guard(server)
    definition = mcp_definition("Vault", "dig", url=server.url("/mcp"))
    entry = register(json.dumps(definition).encode()).entry
    with pytest.raises(AlreadyDefined, match="already in the catalog"):
        import_stub(server.url("/mcp"))

    entry.refresh_from_db()
    assert entry.display_name == "Vault"


def test_stub_does_not_replace_definition_registered_meanwhile(server):
    guard(server)
    resolved = resolve_url(server.url("/mcp"), allow_stub=True)
    definition = mcp_definition("Vault", "dig", url=server.url("/mcp"))
    entry = register(json.dumps(definition).encode()).entry
    with pytest.raises(AlreadyDefined):
        import_resolved(resolved)
    with pytest.raises(AlreadyDefined):
        register(resolved.fetched.body)

    assert entry.agent_type.capabilities.filter(name="dig").exists()


def test_import_of_stub_again_updates_it(server):
    guard(server)
    first = import_stub(server.url("/mcp"))
    publish_metadata(server)
    second = import_stub(server.url("/mcp"))

    assert (second.pk, second.display_name) == (first.pk, "The Vault")


def test_failed_refresh_of_stub_keeps_what_is_missing(server, settings):
    settings.AGENTLENS_REFRESH_INTERVAL = 60
    guard(server)
    entry = import_stub(server.url("/mcp"))
    CatalogEntry.objects.update(next_refresh_at=None)
    asyncio.run(refresh_due_entries())
    with pytest.raises(AuthorizationRequired, match=PROBLEM):
        refresh_entry(entry)

    entry.refresh_from_db()
    assert entry.definition_problem == PROBLEM


def test_definition_is_preferred_to_a_stub(server):
    server.routes["/mcp"] = mcp_servers.answer_legacy_request

    assert import_stub(server.url()).display_name == "legacy"


def test_site_without_agent_cannot_become_a_stub(server):
    with pytest.raises(FetchFailed) as raised:
        import_url(server.url(), allow_stub=True)

    assert not get_failed_search(raised.value).can_be_stub
    assert not CatalogEntry.objects.exists()
