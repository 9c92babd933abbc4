import base64
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.contrib.admin.models import LogEntry

from catalog import search
from catalog.intake import register
from catalog.models import (
    AgentType,
    CatalogEntry,
    EntryText,
    Provider,
    Source,
    Status,
)
from tests.factories import CapabilityFactory, CatalogEntryFactory, card_bytes, skill
from tests.refusals import assert_refused

pytestmark = pytest.mark.django_db

CATALOG = "/api/v1/catalog"
LISTED = [
    "id",
    "display_name",
    "description",
    "protocol",
    "endpoint",
    "version",
    "spec_version",
    "agent_key",
    "status",
    "source",
    "source_url",
    "declared",
    "provider",
    "capability_count",
    "categories",
    "metadata",
    "validity",
    "health",
    "created_at",
    "updated_at",
]
HEALTH = [
    "state",
    "lastProbedAt",
    "lastSuccessAt",
    "latencyMs",
    "consecutiveFailures",
    "lastError",
]


def names(client, query: str = "") -> list[str]:
    answer = client.get(f"{CATALOG}?{query}")
    assert answer.status_code == 200, answer.json()
    items = answer.json()["items"]
    assert answer.json()["total"] == len(items)
    return [item["display_name"] for item in items]


def place(entry, *more: str) -> str:
    return "/".join([CATALOG, str(entry.pk), *more])


def test_an_empty_catalog_is_an_empty_list(viewer):
    assert viewer.get(CATALOG).json() == {"total": 0, "items": []}


def test_a_list_has_these_fields_and_no_others(viewer):
    entry = CatalogEntryFactory(offers=["a2a.skill", "mcp.tool"])
    (item,) = viewer.get(CATALOG).json()["items"]

    assert list(item) == LISTED
    assert item["id"] == str(entry.pk)
    assert item["agent_key"] == entry.agent_type.agent_key
    assert item["capability_count"] == 2
    assert list(item["provider"]) == ["organization", "team", "url"]
    assert list(item["validity"]) == ["from", "to", "last_seen"]
    assert list(item["health"]) == HEALTH


def test_health_and_absent_things_have_their_plain_values(viewer):
    CatalogEntryFactory(agent_type__provider=None, agent_type__spec_version="")
    (item,) = viewer.get(CATALOG).json()["items"]

    assert (item["provider"], item["spec_version"]) == (None, "")
    assert item["health"] == {
        "state": "active",
        "lastProbedAt": None,
        "lastSuccessAt": None,
        "latencyMs": 0,
        "consecutiveFailures": 0,
        "lastError": "",
    }


def test_health_tells_of_the_last_probe_in_utc(viewer):
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    CatalogEntryFactory(
        status=Status.DEGRADED,
        latency_ms=1700,
        last_probed_at=moment,
        last_success_at=moment,
        last_error="503",
        consecutive_failures=1,
    )
    (item,) = viewer.get(CATALOG).json()["items"]

    assert item["health"] == {
        "state": "degraded",
        "lastProbedAt": "2026-01-02T03:04:05Z",
        "lastSuccessAt": "2026-01-02T03:04:05Z",
        "latencyMs": 1700,
        "consecutiveFailures": 1,
        "lastError": "503",
    }


@pytest.fixture
def three():
    """Three agents, each the only answer to some question."""
    scout = CatalogEntryFactory(
        display_name="Scout",
        agent_type__provider__organization="Acme",
        categories=["Field work"],
        offers=["a2a.skill"],
    )
    CatalogEntryFactory(
        display_name="Librarian",
        agent_type__protocol="mcp",
        status=Status.OFFLINE,
        source=Source.IMPORT,
        offers=["mcp.tool"],
    )
    CatalogEntryFactory(
        display_name="Herald",
        description="Announces",
        status=Status.DEPRECATED,
        source=Source.DEMO,
        offers=["a2a.skill", "mcp.prompt"],
    )
    for feature in ("transport.streaming", "a2a.extendedAgentCard"):
        CapabilityFactory(
            agent_type=scout.agent_type,
            kind="agent.feature",
            name=feature,
            properties={"value": True},
        )


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Herald", "Librarian", "Scout"]),
        ("q=announces", ["Herald"]),
        ("q=field+acme", ["Scout"]),
        ("q=nothing+like+it", []),
        ("protocol=mcp", ["Librarian"]),
        ("status=active", ["Scout"]),
        ("status=active,offline", ["Librarian", "Scout"]),
        ("status=active,", ["Scout"]),
        ("status=,", ["Herald", "Librarian", "Scout"]),
        ("status=unknown", []),
        ("kind=mcp.tool", ["Librarian"]),
        ("kind=mcp.tool&kind=mcp.prompt", ["Herald", "Librarian"]),
        ("kind=&kind=mcp.tool", ["Librarian"]),
        ("feature=transport.streaming", ["Scout"]),
        ("feature=transport.streaming&feature=a2a.extendedAgentCard", ["Scout"]),
        ("feature=transport.streaming&feature=other", []),
        ("provider=Acme", ["Scout"]),
        ("provider=Acm", []),
        ("category=FIELD+WORK", ["Scout"]),
        ("category=field", []),
        ("source=import", ["Librarian"]),
        ("kind=a2a.skill&status=active,deprecated&q=ann", ["Herald"]),
    ],
)
def test_each_filter_keeps_what_it_says(viewer, query, expected):
    assert names(viewer, query) == expected


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    "parameter",
    [
        "q",
        "protocol",
        "status",
        "kind",
        "feature",
        "provider",
        "category",
        "source",
        "sort",
        "limit",
        "offset",
    ],
)
def test_an_empty_value_is_as_good_as_none(viewer, parameter):
    assert names(viewer, f"{parameter}=") == names(viewer)


# By the bytes of the folded name: no locale has a say in it.
IN_ORDER = [
    "1st",
    "_under",
    "alpha",
    "ALPHA 2",
    "Beta",
    "STRASSE a",
    "Straße b",
    "zulu",
    "Äther",
    "Łódź",
    "Ωmega",
    "エージェント",
    "😀",
]


def test_names_are_in_the_same_order_on_every_database(viewer):
    for name in reversed(IN_ORDER):
        CatalogEntryFactory(display_name=name)

    assert names(viewer) == names(viewer, "sort=displayName_asc") == IN_ORDER


@pytest.mark.parametrize(
    "sort", ["displayName_asc", "createdAt_desc", "lastSuccessAt_desc"]
)
def test_equals_are_in_the_order_of_their_ids(viewer, sort):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    ids = sorted(uuid4() for _ in range(10))
    for pk in reversed(ids):
        CatalogEntryFactory(pk=pk, display_name="Same", last_success_at=moment)
    CatalogEntry.objects.update(created_at=moment)

    pages = [f"?sort={sort}&limit=4&offset={offset}" for offset in (0, 4, 8)]
    items = [
        item for page in pages for item in viewer.get(CATALOG + page).json()["items"]
    ]
    assert [UUID(item["id"]) for item in items] == ids


def test_the_newest_come_first(viewer):
    for name in ("First", "Second", "Third"):
        CatalogEntryFactory(display_name=name)

    assert names(viewer, "sort=createdAt_desc") == ["Third", "Second", "First"]


def test_the_last_seen_alive_come_first_and_those_never_seen_last(viewer):
    now = datetime.now(UTC)
    CatalogEntryFactory(display_name="Never")
    for hours, name in ((3, "Long ago"), (1, "Lately"), (2, "Before")):
        alive = now - timedelta(hours=hours)
        CatalogEntryFactory(display_name=name, last_success_at=alive)

    expected = ["Lately", "Before", "Long ago", "Never"]
    assert names(viewer, "sort=lastSuccessAt_desc") == expected


def test_a_page_holds_a_part_and_tells_the_total(viewer):
    expected = {
        "": 50,
        "limit=1": 1,
        "limit=200": 60,
        "limit=20&offset=50": 10,
        "offset=60": 0,
        "offset=1000000000": 0,
    }
    CatalogEntryFactory.create_batch(60)
    pages = {query: viewer.get(f"{CATALOG}?{query}").json() for query in expected}

    assert {query: len(page["items"]) for query, page in pages.items()} == expected
    assert {page["total"] for page in pages.values()} == {60}


def test_pages_follow_one_another_without_gap_or_overlap(viewer):
    expected = [f"Agent {n:02}" for n in range(23)]
    for name in expected:
        CatalogEntryFactory(display_name=name)

    pages = [
        viewer.get(f"{CATALOG}?limit=5&offset={n}").json() for n in range(0, 25, 5)
    ]
    assert [i["display_name"] for page in pages for i in page["items"]] == expected


def test_the_total_counts_what_matches(viewer):
    CatalogEntryFactory.create_batch(3, status=Status.OFFLINE)
    CatalogEntryFactory()

    answer = viewer.get(f"{CATALOG}?status=offline&limit=1").json()
    assert (answer["total"], len(answer["items"])) == (3, 1)


def test_an_entry_is_seed_003s_flat_json(viewer):
    raw = card_bytes(
        skills=[
            skill("Translate text", inputModes=["text/html"]),
            skill("Rest", tags=None),
        ]
    )
    entry = register(raw).entry
    item = viewer.get(place(entry)).json()

    assert list(item) == [*LISTED, "capabilities", "raw_definition"]
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
@pytest.mark.parametrize("pk", ["not-a-uuid", str(uuid4()), "0", "x" * 2000])
def test_an_entry_that_is_not_there_is_not_found(admin, method, pk):
    assert_refused(getattr(admin, method)(f"{CATALOG}/{pk}"), 404, "ENTRY_NOT_FOUND")


@pytest.mark.parametrize("below", ["card", "versions"])
def test_nor_is_anything_below_it(viewer, below):
    answer = viewer.get(f"{CATALOG}/{uuid4()}/{below}")

    assert_refused(answer, 404, "ENTRY_NOT_FOUND")


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
    assert_refused(admin.get(place(entry)), 404, "ENTRY_NOT_FOUND")
    assert_refused(admin.delete(place(entry)), 404, "ENTRY_NOT_FOUND")


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
    assert change["removed"] == [{"kind": "a2a.skill", "name": "Old"}]
    assert change["changed"] == []
    assert oldest["changes"] == []


def test_versions_come_in_pages(viewer):
    for n in range(5):
        entry = register(card_bytes(version=f"{n}")).entry
    answer = viewer.get(place(entry, "versions") + "?limit=2&offset=3").json()

    assert answer["total"] == 5
    assert [item["version"] for item in answer["items"]] == ["1", "0"]


def test_kinds_are_all_that_are_registered(viewer):
    answer = viewer.get("/api/v1/kinds").json()

    assert answer["total"] == len(answer["items"]) >= 9
    assert answer["items"][0] == {
        "slug": "agent.feature",
        "label": "Feature",
        "protocol": "any",
        "discoverable": False,
    }
    by_slug = {kind["slug"]: kind["discoverable"] for kind in answer["items"]}
    assert (by_slug["a2a.skill"], by_slug["a2a.interface"]) == (True, False)


def test_kinds_come_in_pages_like_every_list(viewer):
    whole = viewer.get("/api/v1/kinds").json()
    page = viewer.get("/api/v1/kinds?limit=2&offset=1").json()

    assert page == {"total": whole["total"], "items": whole["items"][1:3]}


@pytest.mark.usefixtures("three")
def test_stats_count_by_status_protocol_source_and_kind(viewer):
    stats = viewer.get("/api/v1/stats").json()

    assert stats == {
        "total": 3,
        "status": {
            "unknown": 0,
            "active": 1,
            "degraded": 0,
            "offline": 1,
            "deprecated": 1,
        },
        "protocol": {"a2a": 2, "mcp": 1},
        "source": {"push": 1, "import": 1, "config": 0, "upstream": 0, "demo": 1},
        "kind": {"a2a.skill": 2, "agent.feature": 2, "mcp.prompt": 1, "mcp.tool": 1},
    }


def test_stats_count_current_versions_only(viewer):
    register(card_bytes(version="1", skills=[skill("a"), skill("b")]))
    register(card_bytes(version="2", skills=[skill("a")]))

    stats = viewer.get("/api/v1/stats").json()
    assert (stats["total"], stats["kind"]["a2a.skill"]) == (1, 1)


def test_search_over_the_api_is_the_catalogs_own(viewer):
    CatalogEntryFactory(display_name="Straße 50%_off")
    query = search.QUERY_LIMIT * "x"

    assert names(viewer, "q=STRASSE+%2550%25_") == []
    assert names(viewer, "q=STRASSE+50%25_") == ["Straße 50%_off"]
    assert names(viewer, f"q={query}") == []
