import json

import pytest

from catalog.models import CatalogEntry, Source
from catalog.registration.service import import_url, register
from tests import mcp_servers
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.published import tool_server
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with serving() as server:
        server.routes["/card"] = reply(body=card_bytes(), etag='"1"')
        yield server


@pytest.fixture
def imported(server):
    return import_url(server.url("/card")).entry


def refresh(client, entry, query="", **body):
    place = f"/api/v1/catalog/{entry.pk}/refresh{query}"
    return client.post(place, body, format="json")


def renamed(server):
    server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))


def test_it_says_what_changed_marks_what_breaks_and_applies_it(
    editor, server, imported
):
    renamed(server)
    body = refresh(editor, imported).json()

    assert body["outcome"] == "updated"
    assert body["changes"] == {
        "added": [{"kind": "a2a.skill", "name": "Other"}],
        "removed": [{"kind": "a2a.skill", "name": "Translate text", "breaking": True}],
        "changed": [],
    }
    names = imported.agent_type.capabilities.filter(kind="a2a.skill")
    assert [capability.name for capability in names] == ["Other"]


def interfaces(*ways):
    stated = [
        {"url": f"https://x.example/{way}", "protocolBinding": way} for way in ways
    ]
    return {"supportedInterfaces": [one | {"protocolVersion": "1.0"} for one in stated]}


SCHEMES = {
    "basic": {"httpAuthSecurityScheme": {"scheme": "basic"}},
    "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
    "digest": {"httpAuthSecurityScheme": {"scheme": "digest"}},
}


def schemes(*keys):
    return {"securitySchemes": {key: SCHEMES[key] for key in keys}}


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        (
            interfaces("JSONRPC", "GRPC"),
            interfaces("JSONRPC"),
            "https://x.example/GRPC",
        ),
        (schemes("basic", "bearer"), schemes("basic"), "http (bearer)"),
        (schemes("basic", "bearer"), schemes("bearer"), "http"),
        (schemes("basic"), schemes("digest"), "http"),
    ],
    ids=["an interface", "a scheme", "one with the plain name", "another instead"],
)
def test_what_clients_relied_on_breaks_them(editor, server, before, after, gone):
    server.routes["/card"] = reply(body=card_bytes(**before))
    entry = import_url(server.url("/card")).entry
    server.routes["/card"] = reply(body=card_bytes(**after))
    told = refresh(editor, entry).json()["changes"]

    assert [(one["name"], one["breaking"]) for one in told["removed"]] == [(gone, True)]
    assert told["changed"] == []


def test_a_tool_that_is_gone_breaks_clients(editor, server):
    def tools(*names):
        document = tool_server("Stacks", *names, url=server.url("/mcp"))
        server.routes["/server.json"] = reply(body=json.dumps(document).encode())

    tools("search", "lend")
    entry = import_url(server.url("/server.json")).entry
    tools("search")
    (gone,) = refresh(editor, entry).json()["changes"]["removed"]

    assert gone == {"kind": "mcp.tool", "name": "lend", "breaking": True}


def test_a_removed_flag_breaks_nobody(editor, server, imported):
    server.routes["/card"] = reply(body=card_bytes(capabilities={}))
    (gone,) = refresh(editor, imported).json()["changes"]["removed"]

    assert (gone["kind"], gone["breaking"]) == ("agent.feature", False)


def test_a_dry_run_says_it_and_stores_nothing(editor, server, imported):
    renamed(server)
    body = refresh(editor, imported, "?dry_run=true").json()

    assert [added["name"] for added in body["changes"]["added"]] == ["Other"]
    assert not imported.changes.exists()


def test_an_unchanged_definition_is_seen_and_probed(editor, server, imported):
    probed_before = imported.last_probed_at
    body = refresh(editor, imported).json()

    assert (body["outcome"], body["status"]) == ("unchanged", "active")
    imported.refresh_from_db()
    assert imported.last_probed_at > probed_before


def test_a_pushed_definition_is_looked_for_at_the_agents_own_address(editor, server):
    url = server.url("/a2a")
    entry = register(card_bytes(url=url)).entry
    body = card_bytes(url=url, skills=[skill("Other")])
    server.routes["/.well-known/agent-card.json"] = reply(body=body)

    assert refresh(editor, entry).json()["outcome"] == "updated"
    entry.refresh_from_db()
    assert entry.source_url == server.url("/.well-known/agent-card.json")


def test_a_running_mcp_server_is_asked_again(editor, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with mcp_servers.serving(mcp_servers.notebook()) as address:
        entry = import_url(f"{address}/mcp").entry
        answer = refresh(editor, entry)

    assert (answer.status_code, answer.json()["outcome"]) == (200, "unchanged")


def test_another_agent_there_is_a_conflict(editor, server, imported):
    server.routes["/card"] = reply(body=card_bytes(url="https://other.example/a2a"))

    error = assert_error_response(refresh(editor, imported), 409, "CONFLICT")
    assert "https://other.example/a2a" in error["error"]
    assert CatalogEntry.objects.count() == 1


@pytest.mark.parametrize("members", [{"source": Source.DEMO}, {"endpoint": "mcp:a"}])
def test_what_has_no_address_cannot_be_refreshed(editor, members):
    endpoint = members.pop("endpoint", "https://a.example")
    entry = CatalogEntryFactory(agent_type__endpoint=endpoint, **members)

    assert_error_response(refresh(editor, entry), 409, "CONFLICT")


def test_a_definition_that_is_gone_or_broken_is_told(editor, server, imported):
    server.routes["/card"] = reply(body=card_bytes(name=""))
    assert_error_response(refresh(editor, imported), 422, "INVALID_DEFINITION")
    server.routes.pop("/card")
    assert_error_response(refresh(editor, imported), 502, "FETCH_FAILED")


def test_bad_input_is_refused(editor, imported):
    assert_error_response(
        refresh(editor, imported, "?dry_run=maybe"), 400, "INVALID_PARAMETER"
    )
    assert_error_response(
        refresh(editor, imported, "?force=1"), 400, "INVALID_PARAMETER"
    )
    assert_error_response(refresh(editor, imported, token="x"), 400, "INVALID_BODY")


def test_readers_may_not(viewer, imported):
    assert_error_response(refresh(viewer, imported), 403, "PERMISSION_DENIED")
