"""Reading, editing and deleting one entry; its card and its versions."""

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

from .entries import (
    CATALOG_URL,
    ENTRY_MEMBERS,
    entry_url,
    list_names,
    select_capabilities,
)

pytestmark = pytest.mark.django_db


def get_snippets(client, entry, kind: str) -> dict[str, dict]:
    """Return the entry's capabilities of this kind by name."""
    body = client.get(entry_url(entry)).json()
    return {item["name"]: item for item in select_capabilities(body, kind)}


def test_entry_is_a_flat_object_with_capabilities_and_definition(viewer_api):
    raw = card_bytes(
        skills=[
            skill("Translate text", inputModes=["text/html"]),
            skill("Rest", tags=None),
        ]
    )
    entry = register(raw).entry
    item = viewer_api.get(entry_url(entry)).json()

    detail_members = ["definition_problem", "capabilities", "raw_definition"]
    assert list(item) == [*ENTRY_MEMBERS, *detail_members]
    assert item["display_name"] == "Translator"
    assert (item["protocol"], item["version"]) == ("a2a", "1.0.0")
    assert item["endpoint"] == "https://translator.example.com/a2a"
    assert (item["status"], item["source"]) == ("unknown", "push")
    acme = {"organization": "Acme", "team": "", "url": "https://acme.example"}
    assert item["provider"] == acme
    assert (item["validity"]["from"], item["validity"]["to"]) == (None, None)
    assert (item["categories"], item["metadata"]) == ([], {})
    assert base64.b64decode(item["raw_definition"]) == raw
    assert item["capability_count"] == len(select_capabilities(item, "a2a.skill"))
    counts = item["capability_count"], item["technical_count"]
    assert sum(counts) == len(item["capabilities"]) > item["capability_count"]


def test_skill_has_exactly_six_members(viewer_api):
    full_skill = skill("Translate", inputModes=["text/html"], security=[{"key": []}])
    minimal_skill = {"id": "r", "name": "Rest"}
    entry = register(card_bytes(skills=[full_skill, minimal_skill])).entry
    skills = get_snippets(viewer_api, entry, "a2a.skill")

    assert list(skills["Translate"].items()) == [
        ("kind", "a2a.skill"),
        ("name", "Translate"),
        ("description", "Translate quickly"),
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


def test_capability_of_other_kind_has_its_properties_in_camel_case(viewer_api):
    entry = register(card_bytes()).entry
    (interface,) = get_snippets(viewer_api, entry, "a2a.interface").values()

    assert interface == {
        "kind": "a2a.interface",
        "name": "https://translator.example.com/a2a",
        "description": "",
        "url": "https://translator.example.com/a2a",
        "binding": "JSONRPC",
        "protocolVersion": "1.0",
    }
    streaming = get_snippets(viewer_api, entry, "agent.feature")["transport.streaming"]
    assert streaming["value"] is True


def test_tool_has_its_schema_unchanged(viewer_api):
    schema = {"type": "object", "properties": {"snake_case": {"type": "string"}}}
    tool = {"name": "find", "title": "Find", "inputSchema": schema}
    server = {"name": "com.example/x", "version": "1", "tools": [tool]}
    entry = register(json.dumps(server).encode(), "mcp").entry

    assert get_snippets(viewer_api, entry, "mcp.tool")["find"] == {
        "kind": "mcp.tool",
        "name": "find",
        "description": "",
        "title": "Find",
        "inputSchema": schema,
    }


def test_property_does_not_replace_kind_name_or_description(viewer_api):
    entry = CatalogEntryFactory()
    CapabilityFactory(
        agent_type=entry.agent_type,
        kind="a2a.security_scheme",
        name="apiKey",
        properties={"kind": "x", "name": "x", "description": "x", "key": "main"},
    )

    assert get_snippets(viewer_api, entry, "a2a.security_scheme")["apiKey"] == {
        "kind": "a2a.security_scheme",
        "name": "apiKey",
        "description": "",
        "key": "main",
    }


def test_capability_of_unregistered_kind_is_shown(viewer_api):
    entry = CatalogEntryFactory(offers=["unregistered.kind"])

    assert len(get_snippets(viewer_api, entry, "unregistered.kind")) == 1


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
@pytest.mark.parametrize(
    "pk", ["not-a-uuid", "9f1417c9-fdb1-414a-86c2-e3e26766963d", "0", "x" * 2000]
)
def test_unknown_entry_returns_404(admin_api, method, pk):
    response = getattr(admin_api, method)(f"{CATALOG_URL}/{pk}")

    assert_error_response(response, 404, "ENTRY_NOT_FOUND")


@pytest.mark.parametrize("resource", ["card", "versions"])
def test_card_and_versions_of_unknown_entry_return_404(viewer_api, resource):
    response = viewer_api.get(f"{CATALOG_URL}/{uuid4()}/{resource}")

    assert_error_response(response, 404, "ENTRY_NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"display_name": "  Dragoman "}, {"display_name": "Dragoman"}),
        ({"description": ""}, {"description": ""}),
        ({"categories": ["Diplomacy"]}, {"categories": ["Diplomacy"]}),
        ({"metadata": {"a": [1, None]}}, {"metadata": {"a": [1, None]}}),
        ({"status": "deprecated"}, {"status": "deprecated"}),
        ({"status": "active"}, {"status": "active"}),
    ],
)
def test_patch_changes_field_and_returns_entry(editor_api, body, expected):
    entry = register(card_bytes()).entry
    response = editor_api.patch(entry_url(entry), body, format="json")

    assert response.status_code == 200
    assert response.json().items() >= expected.items()
    assert editor_api.get(entry_url(entry)).json() == response.json()


def test_patch_changes_one_end_of_validity_and_keeps_the_other(editor_api):
    entry = CatalogEntryFactory(validity_to=datetime(2027, 1, 1, tzinfo=UTC))
    body = {"validity": {"from": "2026-01-01T01:00:00+01:00"}}
    validity = editor_api.patch(entry_url(entry), body, format="json").json()[
        "validity"
    ]

    assert validity["from"] == "2026-01-01T00:00:00Z"
    assert validity["to"] == "2027-01-01T00:00:00Z"
    body = {"validity": {"to": None}}
    validity = editor_api.patch(entry_url(entry), body, format="json").json()[
        "validity"
    ]
    assert (validity["from"], validity["to"]) == ("2026-01-01T00:00:00Z", None)


def test_patch_logs_reason_with_user(editor_api):
    entry = CatalogEntryFactory()
    body = {"status": "deprecated", "reason": "Replaced"}
    response = editor_api.patch(entry_url(entry), body, format="json")

    assert "reason" not in response.json()
    log_entry = LogEntry.objects.get()
    assert log_entry.change_message == "Status set to deprecated. Reason: Replaced"
    assert log_entry.user.groups.get().name == "Editor"


def test_empty_patch_changes_nothing(editor_api):
    entry = CatalogEntryFactory()
    before = editor_api.get(entry_url(entry)).content

    assert editor_api.patch(entry_url(entry), {}, format="json").content == before
    assert editor_api.patch(entry_url(entry)).content == before


def test_patched_entry_is_found_at_once(editor_api):
    entry = CatalogEntryFactory(display_name="Scout")
    editor_api.patch(entry_url(entry), {"categories": ["Łódź"]}, format="json")

    assert list_names(editor_api, "q=ŁÓDŹ") == ["Scout"]
    assert list_names(editor_api, "category=łódź") == ["Scout"]


def test_delete_removes_every_version_and_keeps_provider(admin_api):
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    response = admin_api.delete(entry_url(entry))

    assert (response.status_code, response.content) == (204, b"")
    assert not AgentType.objects.exists()
    assert not EntryText.objects.exists()
    assert Provider.objects.exists()
    assert_error_response(admin_api.get(entry_url(entry)), 404, "ENTRY_NOT_FOUND")
    assert_error_response(admin_api.delete(entry_url(entry)), 404, "ENTRY_NOT_FOUND")


def test_deleted_agent_can_be_registered_again(admin_api):
    first = register(card_bytes()).entry
    admin_api.delete(entry_url(first))

    assert register(card_bytes()).entry.pk != first.pk


def test_card_is_returned_byte_for_byte(viewer_api):
    card = card_bytes(note="<script>ł</script>")
    raw = b"\xef\xbb\xbf\n" + card.replace(b", ", b" , ")
    entry = register(raw).entry
    response = viewer_api.get(entry_url(entry, "card"))

    assert response.content == raw
    assert response["Content-Type"] == "application/json"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_card_with_matching_etag_returns_304(viewer_api):
    entry = register(card_bytes()).entry
    url = entry_url(entry, "card")
    etag = viewer_api.get(url)["ETag"]
    headers = {"If-None-Match": etag}
    response = viewer_api.get(url, headers=headers)

    assert etag.startswith('W/"')
    assert (response.status_code, response.content) == (304, b"")
    assert response["ETag"] == etag
    new_card = card_bytes(version="2.0.0")
    register(new_card)
    response = viewer_api.get(url, headers=headers)
    assert (response.status_code, response.content) == (200, new_card)


def test_versions_are_listed_newest_first(viewer_api):
    register(card_bytes(version="1.0.0", skills=[skill("Old")]))
    entry = register(card_bytes(version="2.0.0", skills=[skill("New")])).entry
    body = viewer_api.get(entry_url(entry, "versions")).json()

    newest, oldest = body["items"]
    assert body["total"] == 2
    assert list(newest) == [
        "version",
        "spec_version",
        "current",
        "digest",
        "capability_count",
        "technical_count",
        "created_on",
        "changes",
    ]
    assert (newest["version"], newest["current"]) == ("2.0.0", True)
    assert (oldest["version"], oldest["current"]) == ("1.0.0", False)
    assert newest["digest"] == entry.agent_type.digest
    skills = entry.agent_type.capabilities.filter(kind="a2a.skill").count()
    assert newest["capability_count"] == skills
    counts = newest["capability_count"], newest["technical_count"]
    assert sum(counts) == entry.agent_type.capabilities.count() > skills


def test_version_lists_its_changes(viewer_api):
    register(card_bytes(version="1.0.0", skills=[skill("Old")]))
    entry = register(card_bytes(version="2.0.0", skills=[skill("New")])).entry
    newest, oldest = viewer_api.get(entry_url(entry, "versions")).json()["items"]

    (change,) = newest["changes"]
    assert change["previous_version"] == "1.0.0"
    assert change["digest"] == newest["digest"]
    assert change["added"] == [{"kind": "a2a.skill", "name": "New", "breaking": False}]
    removed = {"kind": "a2a.skill", "name": "Old", "breaking": True}
    assert change["removed"] == [removed]
    assert change["changed"] == []
    assert oldest["changes"] == []


def test_version_lists_changes_of_fields_t14(viewer_api):
    register(card_bytes(capabilities={"streaming": True}))
    entry = register(card_bytes(version="2.0.0", capabilities={"streaming": False}))
    newest, _ = viewer_api.get(entry_url(entry.entry, "versions")).json()["items"]

    (change,) = newest["changes"]
    (feature,) = change["changed"]
    assert feature["changes"] == [
        {
            "field": "value",
            "path": "",
            "from": True,
            "to": False,
            "breaking": True,
            "reason": "feature lost",
        }
    ]
    assert [(item["from"], item["to"]) for item in change["fields"]] == [
        ("1.0.0", "2.0.0")
    ]
    assert (change["breaking"], change["breaking_count"]) == (True, 1)


def test_change_recorded_without_details_lists_names(viewer_api):
    register(card_bytes(skills=[skill("Old")]))
    entry = register(card_bytes(skills=[skill("New")])).entry
    item = {"kind": "a2a.skill", "name": "Old"}
    # As rows were stored before details were recorded.
    entry.changes.update(
        removed=[item],
        changed=[item],
        breaking=False,
        breaking_count=0,
        breaking_reasons=[],
    )
    (version,) = viewer_api.get(entry_url(entry, "versions")).json()["items"]

    (change,) = version["changes"]
    assert change["changed"] == [item | {"changes": [], "omitted": 0}]
    assert change["removed"] == [item | {"breaking": True}]
    assert (change["breaking"], change["breaking_count"]) == (True, 1)


def test_versions_are_paginated(viewer_api):
    for n in range(5):
        entry = register(card_bytes(version=f"{n}")).entry
    body = viewer_api.get(entry_url(entry, "versions") + "?limit=2&offset=3").json()

    assert body["total"] == 5
    assert [item["version"] for item in body["items"]] == ["1", "0"]
