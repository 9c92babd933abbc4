from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from catalog import search
from catalog.models import CatalogEntry, Source, Status
from tests.factories import CapabilityFactory, CatalogEntryFactory

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
        ("feature=transport.streaming&feature=x.other", []),
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


def test_search_over_the_api_is_the_catalogs_own(viewer):
    CatalogEntryFactory(display_name="Straße 50%_off")
    query = search.QUERY_LIMIT * "x"

    assert names(viewer, "q=STRASSE+%2550%25_") == []
    assert names(viewer, "q=STRASSE+50%25_") == ["Straße 50%_off"]
    assert names(viewer, f"q={query}") == []
