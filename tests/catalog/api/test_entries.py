from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from catalog import search
from catalog.models import CatalogEntry, Source, Status
from tests.api_errors import assert_error_response
from tests.factories import AgentTypeFactory, CapabilityFactory, CatalogEntryFactory
from tests.queries import count_queries

from .entries import CATALOG_URL, ENTRY_MEMBERS, list_names

pytestmark = pytest.mark.django_db

HEALTH_MEMBERS = [
    "state",
    "lastProbedAt",
    "lastSuccessAt",
    "latencyMs",
    "consecutiveFailures",
    "lastError",
]


def test_list_of_empty_catalog_is_empty(viewer_api):
    assert viewer_api.get(CATALOG_URL).json() == {"total": 0, "items": []}


def test_listed_entry_has_exactly_the_documented_members(viewer_api):
    entry = CatalogEntryFactory(offers=["a2a.skill", "mcp.tool"])
    (item,) = viewer_api.get(CATALOG_URL).json()["items"]

    assert list(item) == ENTRY_MEMBERS
    assert item["id"] == str(entry.pk)
    assert item["agent_key"] == entry.agent_type.agent_key
    assert (item["capability_count"], item["technical_count"]) == (2, 0)
    assert list(item["provider"]) == ["organization", "team", "url"]
    assert list(item["validity"]) == ["from", "to", "last_seen"]
    assert list(item["health"]) == HEALTH_MEMBERS


def test_listed_entry_without_provider_and_probes_has_default_values(viewer_api):
    CatalogEntryFactory(agent_type__provider=None, agent_type__spec_version="")
    (item,) = viewer_api.get(CATALOG_URL).json()["items"]

    assert (item["provider"], item["spec_version"]) == (None, "")
    assert item["health"] == {
        "state": "active",
        "lastProbedAt": None,
        "lastSuccessAt": None,
        "latencyMs": 0,
        "consecutiveFailures": 0,
        "lastError": "",
    }


def test_listed_entry_shows_last_probe_in_utc(viewer_api):
    time = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    CatalogEntryFactory(
        status=Status.DEGRADED,
        latency_ms=1700,
        last_probed_at=time,
        last_success_at=time,
        last_error="503",
        consecutive_failures=1,
    )
    (item,) = viewer_api.get(CATALOG_URL).json()["items"]

    assert item["health"] == {
        "state": "degraded",
        "lastProbedAt": "2026-01-02T03:04:05Z",
        "lastSuccessAt": "2026-01-02T03:04:05Z",
        "latencyMs": 1700,
        "consecutiveFailures": 1,
        "lastError": "503",
    }


@pytest.fixture
def three_entries():
    """Create three entries that differ in every filtered field."""
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


@pytest.mark.usefixtures("three_entries")
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
        ("feature=transport.streaming&feature=custom.other", []),
        ("feature=transport.streaming&feature=mcp.logging", []),
        ("provider=Acme", ["Scout"]),
        ("provider=Acm", []),
        ("category=FIELD+WORK", ["Scout"]),
        ("category=field", []),
        ("source=import", ["Librarian"]),
        ("kind=a2a.skill&status=active,deprecated&q=ann", ["Herald"]),
    ],
)
def test_list_applies_filters(viewer_api, query, expected):
    assert list_names(viewer_api, query) == expected


@pytest.mark.usefixtures("three_entries")
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
def test_list_ignores_empty_parameter(viewer_api, parameter):
    assert list_names(viewer_api, f"{parameter}=") == list_names(viewer_api)


# In the byte order of the normalized names, which does not depend on a locale.
SORTED_NAMES = [
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


def test_list_sorts_names_alike_on_every_database(viewer_api):
    for name in reversed(SORTED_NAMES):
        CatalogEntryFactory(display_name=name)

    assert list_names(viewer_api) == SORTED_NAMES
    assert list_names(viewer_api, "sort=displayName_asc") == SORTED_NAMES


@pytest.mark.parametrize(
    "sort", ["displayName_asc", "createdAt_desc", "lastSuccessAt_desc"]
)
def test_list_sorts_equal_entries_by_id(viewer_api, sort):
    time = datetime(2026, 1, 1, tzinfo=UTC)
    ids = sorted(uuid4() for _ in range(10))
    for pk in reversed(ids):
        CatalogEntryFactory(pk=pk, display_name="Same", last_success_at=time)
    CatalogEntry.objects.update(created_at=time)

    queries = [f"sort={sort}&limit=4&offset={offset}" for offset in (0, 4, 8)]
    pages = [viewer_api.get(f"{CATALOG_URL}?{query}").json() for query in queries]
    listed_ids = [UUID(item["id"]) for page in pages for item in page["items"]]
    assert listed_ids == ids


def test_sort_by_creation_lists_newest_first(viewer_api):
    for name in ("First", "Second", "Third"):
        CatalogEntryFactory(display_name=name)

    assert list_names(viewer_api, "sort=createdAt_desc") == ["Third", "Second", "First"]


def test_sort_by_last_success_lists_latest_first_and_never_seen_last(viewer_api):
    now = datetime.now(UTC)
    CatalogEntryFactory(display_name="Never")
    for hours, name in ((3, "Third"), (1, "First"), (2, "Second")):
        seen_at = now - timedelta(hours=hours)
        CatalogEntryFactory(display_name=name, last_success_at=seen_at)

    expected = ["First", "Second", "Third", "Never"]
    assert list_names(viewer_api, "sort=lastSuccessAt_desc") == expected


def test_list_page_has_limited_items_and_total(viewer_api):
    expected = {
        "": 50,
        "limit=1": 1,
        "limit=200": 60,
        "limit=20&offset=50": 10,
        "offset=60": 0,
        "offset=1000000000": 0,
    }
    CatalogEntryFactory.create_batch(60)
    pages = {
        query: viewer_api.get(f"{CATALOG_URL}?{query}").json() for query in expected
    }

    assert {query: len(page["items"]) for query, page in pages.items()} == expected
    assert {page["total"] for page in pages.values()} == {60}


def test_list_pages_have_no_gap_or_overlap(viewer_api):
    expected = [f"Agent {n:02}" for n in range(23)]
    for name in expected:
        CatalogEntryFactory(display_name=name)

    pages = [
        viewer_api.get(f"{CATALOG_URL}?limit=5&offset={n}").json()
        for n in range(0, 25, 5)
    ]
    names = [item["display_name"] for page in pages for item in page["items"]]
    assert names == expected


def test_list_total_counts_only_matching_entries(viewer_api):
    CatalogEntryFactory.create_batch(3, status=Status.OFFLINE)
    CatalogEntryFactory()

    body = viewer_api.get(f"{CATALOG_URL}?status=offline&limit=1").json()
    assert (body["total"], len(body["items"])) == (3, 1)


def test_search_folds_case_and_matches_special_characters_literally(viewer_api):
    CatalogEntryFactory(display_name="Straße 50%_off")
    longest_query = search.QUERY_LIMIT * "x"

    assert list_names(viewer_api, "q=STRASSE+%2550%25_") == []
    assert list_names(viewer_api, "q=STRASSE+50%25_") == ["Straße 50%_off"]
    assert list_names(viewer_api, f"q={longest_query}") == []


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("nope.x", ""),
        ("reasonning.supported", " Did you mean 'reasoning.supported'?"),
        ("reasoning.suported", " Did you mean 'reasoning.supported'?"),
        ("a2a.extendedAgentCards", " Did you mean 'a2a.extendedAgentCard'?"),
    ],
)
def test_unknown_feature_is_rejected_with_suggestion_t17(viewer_api, name, suggestion):
    response = viewer_api.get(
        f"{CATALOG_URL}?feature=transport.streaming&feature={name}"
    )

    body = assert_error_response(response, 400, "INVALID_PARAMETER")
    assert body["error"] == f"feature: There is no feature {name!r}.{suggestion}"
    assert body["details"] == {"parameter": "feature"}


def test_feature_that_only_an_agent_declares_is_accepted(viewer_api):
    entry = CatalogEntryFactory()
    url = f"{CATALOG_URL}?feature=x.other"
    assert viewer_api.get(url).status_code == 400
    CapabilityFactory(
        agent_type=entry.agent_type,
        kind="agent.feature",
        name="x.other",
        properties={"value": True},
    )
    assert viewer_api.get(url).json()["total"] == 1

    entry.agent_type = AgentTypeFactory()
    entry.save()
    assert viewer_api.get(url).status_code == 400


def test_undefined_features_are_looked_up_with_one_query(viewer_api):
    for name in ("x.one", "x.two"):
        CapabilityFactory(
            agent_type=CatalogEntryFactory().agent_type,
            kind="agent.feature",
            name=name,
            properties={"value": True},
        )
    defined = count_queries(viewer_api, f"{CATALOG_URL}?feature=tools.supported")
    url = f"{CATALOG_URL}?feature=x.one&feature=x.two"

    assert count_queries(viewer_api, url) == defined + 1
