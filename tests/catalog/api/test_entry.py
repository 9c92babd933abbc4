"""One entry: read, curated, removed; its card and its versions."""

import base64
import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry

from catalog.models import AgentType, EntryText, Provider
from catalog.registration.service import register
from tests.api_errors import assert_error_response
from tests.factories import CapabilityFactory, CatalogEntryFactory, card_bytes, skill

from .test_entries import CATALOG, LISTED, names

pytestmark = pytest.mark.django_db


def place(entry, *more: str) -> str:
    return "/".join([CATALOG, str(entry.pk), *more])


def test_an_entry_is_seed_003s_flat_json(viewer):
    raw = card_bytes(
        skills=[
            skill("Translate text", inputModes=["text/html"]),
            skill("Rest", tags=None),
        ]
    )
    entry = register(raw).entry
    item = viewer.get(place(entry)).json()

    own = ["definition_problem", "capabilities", "raw_definition"]
    assert list(item) == [*LISTED, *own]
    assert item["display_name"] == "Translator"
    assert (item["protocol"], item["version"]) == ("a2a", "1.0.0")
    assert item["endpoint"] == "https://translator.example.com/a2a"
    assert (item["status"], item["source"]) == ("unknown", "push")
    acme = {"organization": "Acme", "team": "", "url": "https://acme.example"}
    assert item["provider"] == acme
    assert (item["validity"]["from"], item["validity"]["to"]) == (None, None)
    assert (item["categories"], item["metadata"]) == ([], {})
    assert base64.b64decode(item["raw_definition"]) == raw
    assert item["capability_count"] == len(item["capabilities"])


def snippets(client, entry, kind: str) -> dict[str, dict]:
    item = client.get(place(entry)).json()
    found = [one for one in item["capabilities"] if one["kind"] == kind]
    return {one["name"]: one for one in found}


def test_a_skill_has_exactly_six_members(viewer):
    stated = skill("Translate", inputModes=["text/html"], security=[{"key": []}])
    entry = register(card_bytes(skills=[stated, {"id": "r", "name": "Rest"}])).entry
    skills = snippets(viewer, entry, "a2a.skill")

    assert list(skills["Translate"].items()) == [
        ("kind", "a2a.skill"),
        ("name", "Translate"),
        ("description", "Translate, and well"),
        ("tags", ["demo"]),
        ("inputModes", ["text/html"]),
        ("outputModes", ["text/plain"]),
    ]
    assert skills["Rest"] == {
        "kind": "a2a.skill",
        "name": "Rest",
        "description": "",
        "tags": [],
        "inputModes": ["text/plain"],
        "outputModes": ["text/plain"],
    }


def test_other_kinds_show_their_properties_in_camel_case(viewer):
    entry = register(card_bytes()).entry
    (interface,) = snippets(viewer, entry, "a2a.interface").values()

    assert interface == {
        "kind": "a2a.interface",
        "name": "https://translator.example.com/a2a",
        "description": "",
        "url": "https://translator.example.com/a2a",
        "binding": "JSONRPC",
        "protocolVersion": "1.0",
    }
    streaming = snippets(viewer, entry, "agent.feature")["transport.streaming"]
    assert streaming["value"] is True


def test_a_tool_shows_its_schema_untouched(viewer):
    schema = {"type": "object", "properties": {"snake_case": {"type": "string"}}}
    tool = {"name": "find", "title": "Find", "inputSchema": schema}
    server = {"name": "com.example/x", "version": "1", "tools": [tool]}
    entry = register(json.dumps(server).encode(), "mcp").entry

    assert snippets(viewer, entry, "mcp.tool")["find"] == {
        "kind": "mcp.tool",
        "name": "find",
        "description": "",
        "title": "Find",
        "inputSchema": schema,
    }


def test_no_property_stands_in_for_what_a_capability_is(viewer):
    entry = CatalogEntryFactory()
    CapabilityFactory(
        agent_type=entry.agent_type,
        kind="a2a.security_scheme",
        name="apiKey",
        properties={"kind": "x", "name": "x", "description": "x", "key": "main"},
    )

    assert snippets(viewer, entry, "a2a.security_scheme")["apiKey"] == {
        "kind": "a2a.security_scheme",
        "name": "apiKey",
        "description": "",
        "key": "main",
    }


def test_capabilities_of_a_kind_nobody_registers_any_more_are_still_shown(viewer):
    entry = CatalogEntryFactory(offers=["gone.kind"])

    assert len(snippets(viewer, entry, "gone.kind")) == 1


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
@pytest.mark.parametrize(
    "pk", ["not-a-uuid", "9f1417c9-fdb1-414a-86c2-e3e26766963d", "0", "x" * 2000]
)
def test_an_entry_that_is_not_there_is_not_found(admin, method, pk):
    assert_error_response(
        getattr(admin, method)(f"{CATALOG}/{pk}"), 404, "ENTRY_NOT_FOUND"
    )


@pytest.mark.parametrize("below", ["card", "versions"])
def test_nor_is_anything_below_it(viewer, below):
    answer = viewer.get(f"{CATALOG}/{uuid4()}/{below}")

    assert_error_response(answer, 404, "ENTRY_NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"display_name": "  Dragoman "}, {"display_name": "Dragoman"}),
        ({"description": ""}, {"description": ""}),
        ({"categories": ["Diplomacy"]}, {"categories": ["Diplomacy"]}),
        ({"metadata": {"a": [1, None]}}, {"metadata": {"a": [1, None]}}),
        ({"status": "deprecated"}, {"status": "deprecated"}),
        ({"status": "active"}, {"status": "active"}),
    ],
)
def test_a_curated_field_is_changed_and_shown(editor, body, shown):
    entry = register(card_bytes()).entry
    answer = editor.patch(place(entry), body, format="json")

    assert answer.status_code == 200
    assert answer.json().items() >= shown.items()
    assert editor.get(place(entry)).json() == answer.json()


def test_validity_is_changed_edge_by_edge(editor):
    entry = CatalogEntryFactory(validity_to=datetime(2027, 1, 1, tzinfo=UTC))
    body = {"validity": {"from": "2026-01-01T01:00:00+01:00"}}
    validity = editor.patch(place(entry), body, format="json").json()["validity"]

    assert validity["from"] == "2026-01-01T00:00:00Z"
    assert validity["to"] == "2027-01-01T00:00:00Z"
    body = {"validity": {"to": None}}
    validity = editor.patch(place(entry), body, format="json").json()["validity"]
    assert (validity["from"], validity["to"]) == ("2026-01-01T00:00:00Z", None)


def test_the_reason_is_kept_with_who_gave_it(editor):
    entry = CatalogEntryFactory()
    body = {"status": "deprecated", "reason": "Replaced"}
    answer = editor.patch(place(entry), body, format="json")

    assert "reason" not in answer.json()
    told = LogEntry.objects.get()
    assert told.change_message == "Status set to deprecated. Reason: Replaced"
    assert told.user.groups.get().name == "Editor"


def test_a_patch_of_nothing_changes_nothing(editor):
    entry = CatalogEntryFactory()
    before = editor.get(place(entry)).content

    assert editor.patch(place(entry), {}, format="json").content == before
    assert editor.patch(place(entry)).content == before


def test_what_was_curated_is_found_at_once(editor):
    entry = CatalogEntryFactory(display_name="Scout")
    editor.patch(place(entry), {"categories": ["Łódź"]}, format="json")

    assert names(editor, "q=ŁÓDŹ") == names(editor, "category=łódź") == ["Scout"]


def test_deleting_removes_every_version_and_keeps_the_provider(admin):
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    answer = admin.delete(place(entry))

    assert (answer.status_code, answer.content) == (204, b"")
    assert not AgentType.objects.exists()
    assert not EntryText.objects.exists()
    assert Provider.objects.exists()
    assert_error_response(admin.get(place(entry)), 404, "ENTRY_NOT_FOUND")
    assert_error_response(admin.delete(place(entry)), 404, "ENTRY_NOT_FOUND")


def test_a_deleted_agent_can_be_registered_again(admin):
    first = register(card_bytes()).entry
    admin.delete(place(first))

    assert register(card_bytes()).entry.pk != first.pk


def test_the_card_is_the_very_bytes_received(viewer):
    raw = b"\xef\xbb\xbf\n" + card_bytes(note="<script>ł</script>").replace(
        b", ", b" , "
    )
    entry = register(raw).entry
    answer = viewer.get(place(entry, "card"))

    assert answer.content == raw
    assert answer["Content-Type"] == "application/json"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_card_somebody_has_already_is_not_sent_again(viewer):
    entry = register(card_bytes()).entry
    etag = viewer.get(place(entry, "card"))["ETag"]
    again = viewer.get(place(entry, "card"), headers={"If-None-Match": etag})

    assert etag.startswith('W/"')
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    register(card_bytes(version="2.0.0"))
    newer = viewer.get(place(entry, "card"), headers={"If-None-Match": etag})
    assert (newer.status_code, newer.content) == (200, card_bytes(version="2.0.0"))


def test_versions_tell_the_history_newest_first(viewer):
    register(card_bytes(version="1.0.0", skills=[skill("Old")]))
    entry = register(card_bytes(version="2.0.0", skills=[skill("New")])).entry
    answer = viewer.get(place(entry, "versions")).json()

    newest, oldest = answer["items"]
    assert answer["total"] == 2
    assert list(newest) == [
        "version",
        "spec_version",
        "current",
        "digest",
        "capability_count",
        "created_on",
        "changes",
    ]
    assert (newest["version"], newest["current"]) == ("2.0.0", True)
    assert (oldest["version"], oldest["current"]) == ("1.0.0", False)
    assert newest["digest"] == entry.agent_type.digest
    assert newest["capability_count"] == entry.agent_type.capabilities.count()


def test_a_version_tells_what_led_to_it(viewer):
    register(card_bytes(version="1.0.0", skills=[skill("Old")]))
    entry = register(card_bytes(version="2.0.0", skills=[skill("New")])).entry
    newest, oldest = viewer.get(place(entry, "versions")).json()["items"]

    (change,) = newest["changes"]
    assert change["previous_version"] == "1.0.0"
    assert change["digest"] == newest["digest"]
    assert change["added"] == [{"kind": "a2a.skill", "name": "New"}]
    gone = {"kind": "a2a.skill", "name": "Old", "breaking": True}
    assert change["removed"] == [gone]
    assert change["changed"] == []
    assert oldest["changes"] == []


def test_versions_come_in_pages(viewer):
    for n in range(5):
        entry = register(card_bytes(version=f"{n}")).entry
    answer = viewer.get(place(entry, "versions") + "?limit=2&offset=3").json()

    assert answer["total"] == 5
    assert [item["version"] for item in answer["items"]] == ["1", "0"]
