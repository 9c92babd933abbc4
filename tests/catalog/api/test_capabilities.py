"""The capability list and the capability detail, also with unusual names."""

import json
from dataclasses import replace
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from knox.models import AuthToken
from rest_framework.test import APIClient

from capabilities.kinds import kinds
from catalog.api.capabilities import CapabilityInstanceSerializer
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from catalog.search.indexer import index_entries
from catalog.search.query import ITEM_FIELDS
from tests.api_errors import assert_error_response
from tests.factories import (
    CapabilityFactory,
    CatalogEntryFactory,
    UserFactory,
    add_capability,
    card_bytes,
)
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

LIST_URL = "/api/v1/capabilities"
ITEM_MEMBERS = {
    "kind",
    "name",
    "description",
    "tags",
    "input_modes",
    "output_modes",
    "agent_id",
    "agent_name",
    "protocol",
    "status",
    "spec_version",
    "provider_org",
    "provider_url",
    "health_state",
    "latency_ms",
}
UNUSUAL_NAMES = [
    "Translate EN-DE",
    "a/b c",
    "/",
    "x::y",
    "::",
    "100%",
    "100%25",
    "%2F",
    "ä/ö?#",
    "..",
    "../../catalog",
    ".",
    "a//b",
    "a;b=c&d+e",
    "مرحبا بالعالم",
    "\u202eright to left",
    "👩‍👩‍👧 family",
    "two\nlines",
    "\r\n",
    "tab\there",
    "n" * 300,
    "ż" * 500,
    "trailing space ",
    " leading",
    'quo"te\\',
    "e\u0301",
    "é",
    "\x01\x7f",
]
unusual_names = pytest.mark.parametrize("name", UNUSUAL_NAMES, ids=ascii)


def detail_url(name: str, kind="a2a.skill") -> str:
    """Return the URL of a capability, encoded like `encodeURIComponent` does it."""
    return f"{LIST_URL}/{quote(f'{kind}::{name}', safe='')}"


def test_list_without_parameters_returns_all_sorted_by_name(viewer_api):
    entry = CatalogEntryFactory()
    for name in ("cherry", "Apple", "banana"):
        add_capability(entry, name)
    response = viewer_api.get(LIST_URL)

    assert response.status_code == 200
    assert set(response.json()) == {"total", "items"}
    names = [item["name"] for item in response.json()["items"]]
    assert names == ["Apple", "banana", "cherry"]


def test_listed_item_has_the_specified_members(viewer_api):
    entry = CatalogEntryFactory(
        display_name="Translation Agent",
        latency_ms=142,
        agent_type__spec_version="1.0",
        agent_type__provider__organization="Acme",
        agent_type__provider__url="https://acme.io",
    )
    snippet = {
        "tags": ["translation", "german", "english"],
        "input_modes": ["text/plain"],
        "output_modes": ["text/plain"],
    }
    description = "Bidirectional translation between English and German"
    properties = {"id": "t", **snippet}
    add_capability(
        entry, "Translate EN-DE", description=description, properties=properties
    )

    assert viewer_api.get(LIST_URL).json() == {
        "total": 1,
        "items": [
            {
                "kind": "a2a.skill",
                "name": "Translate EN-DE",
                "description": description,
                **snippet,
                "agent_id": str(entry.pk),
                "agent_name": "Translation Agent",
                "protocol": "a2a",
                "status": "active",
                "spec_version": "1.0",
                "provider_org": "Acme",
                "provider_url": "https://acme.io",
                "health_state": "active",
                "latency_ms": 142,
            }
        ],
    }


def test_listed_item_has_null_for_unknown_values(viewer_api):
    entry = CatalogEntryFactory(
        status=Status.DEGRADED,
        agent_type__protocol="mcp",
        agent_type__spec_version="",
        agent_type__provider=None,
    )
    add_capability(
        entry, "search_documents", kind="mcp.tool", properties={"title": "x"}
    )
    item = viewer_api.get(LIST_URL).json()["items"][0]

    assert set(item) == ITEM_MEMBERS
    unknown = ("tags", "input_modes", "output_modes", "provider_org", "provider_url")
    assert [item[name] for name in unknown] == [None] * 5
    assert (item["spec_version"], item["latency_ms"]) == ("", 0)
    assert item["status"] == item["health_state"] == "degraded"


def test_listed_item_has_null_for_missing_provider_url(viewer_api):
    add_capability(CatalogEntryFactory(agent_type__provider__url=""), "Translate")

    assert viewer_api.get(LIST_URL).json()["items"][0]["provider_url"] is None


def test_list_combines_search_filter_sort_and_page(viewer_api):
    entry = CatalogEntryFactory()
    for n in range(5):
        add_capability(entry, f"Translate {n}")
        add_capability(entry, f"Translate {n}", kind="mcp.tool")
    filters = {"q": "TRANSLATE", "kind": "mcp.tool", "sort": "agentName_asc"}
    body = viewer_api.get(LIST_URL, filters | {"limit": 2, "offset": 2}).json()

    assert body["total"] == 5
    assert [item["name"] for item in body["items"]] == ["Translate 2", "Translate 3"]
    assert {item["kind"] for item in body["items"]} == {"mcp.tool"}


def test_list_ignores_empty_parameters(viewer_api):
    add_capability(CatalogEntryFactory(), "Translate")

    assert (
        viewer_api.get(f"{LIST_URL}?q=&kind=&sort=&limit=&offset=").json()["total"] == 1
    )


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("kind=carrier.pigeon", "kind"),
        ("kind=a2a.interface", "kind"),
        ("kind=a2a.skill,mcp.tool", "kind"),
        ("kind=A2A.SKILL", "kind"),
        ("kind=a2a.skill&kind=mcp.tool", "kind"),
        ("sort=name_desc", "sort"),
        ("sort=name", "sort"),
        ("page=2", "page"),
        ("tags=x", "tags"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("offset=-1", "offset"),
        ("offset=1.5", "offset"),
        ("offset=99999999999", "offset"),
        ("q=a%00b", "q"),
        (f"q={'x' * 1001}", "q"),
    ],
)
def test_capability_list_rejects_invalid_parameter_and_names_it(
    viewer_api, query, parameter
):
    response = viewer_api.get(f"{LIST_URL}?{query}")

    body = assert_error_response(response, 400, "INVALID_PARAMETER")
    assert body["details"] == {"parameter": parameter}


def test_list_returns_50_items_by_default_and_200_at_most(viewer_api):
    entry = CatalogEntryFactory()
    for n in range(201):
        CapabilityFactory(agent_type=entry.agent_type, name=f"{n:03}")
    index_entries(CatalogEntry.objects.all())

    assert len(viewer_api.get(LIST_URL).json()["items"]) == 50
    assert len(viewer_api.get(f"{LIST_URL}?limit=200").json()["items"]) == 200
    last_page = viewer_api.get(f"{LIST_URL}?limit=200&offset=200").json()
    assert last_page["total"] == 201
    assert [item["name"] for item in last_page["items"]] == ["200"]


@pytest.mark.parametrize("path", ["", "/", "/a2a.skill::x", "?q=x"])
def test_skills_url_does_not_exist(viewer_api, path):
    assert_error_response(viewer_api.get(f"/api/v1/skills{path}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("url", [LIST_URL, f"{LIST_URL}/a2a.skill::x"])
def test_write_methods_return_405(admin_api, method, url):
    assert_error_response(getattr(admin_api, method)(url), 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("role", ["Viewer", "Editor", "Admin"])
def test_every_role_can_read(api_client_for_role, role):
    add_capability(CatalogEntryFactory(), "Translate")
    client = api_client_for_role(role)

    assert client.get(LIST_URL).status_code == 200
    assert client.get(detail_url("Translate")).status_code == 200


@pytest.mark.parametrize(
    "url", [LIST_URL, f"{LIST_URL}/a2a.skill::x", f"{LIST_URL}/nonsense"]
)
def test_anonymous_request_returns_401(url):
    assert_error_response(APIClient().get(url), 401, "NOT_AUTHENTICATED")


def test_request_by_user_without_role_returns_403():
    client = APIClient()
    client.force_authenticate(UserFactory())

    assert_error_response(client.get(LIST_URL), 403, "PERMISSION_DENIED")


def test_anonymous_can_read_if_setting_allows_it(settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    add_capability(CatalogEntryFactory(), "Translate")

    assert APIClient().get(LIST_URL).json()["total"] == 1
    assert APIClient().get(detail_url("Translate")).status_code == 200


def test_request_with_matching_etag_returns_304(viewer_api):
    add_capability(CatalogEntryFactory(), "Translate")
    for url in (LIST_URL, detail_url("Translate")):
        etag = viewer_api.get(url)["ETag"]
        assert etag.startswith('W/"')
        assert viewer_api.get(url, HTTP_IF_NONE_MATCH=etag).status_code == 304


def test_detail_has_the_specified_members(viewer_api):
    entry = CatalogEntryFactory(
        display_name="Translation Agent",
        latency_ms=142,
        agent_type__provider__organization="Acme",
        agent_type__provider__url="https://acme.io",
    )
    properties = {
        "id": "t",
        "tags": ["german"],
        "input_modes": ["text/plain"],
        "output_modes": ["text/plain"],
        "security": [{"key": []}],
    }
    add_capability(
        entry, "Translate EN-DE", description="Both ways", properties=properties
    )

    assert viewer_api.get(detail_url("Translate EN-DE")).json() == {
        "capability": {"kind": "a2a.skill", "name": "Translate EN-DE"},
        "agents": [
            {
                "id": str(entry.pk),
                "display_name": "Translation Agent",
                "protocol": "a2a",
                "provider": {
                    "organization": "Acme",
                    "team": "",
                    "url": "https://acme.io",
                },
                "health": {
                    "state": "active",
                    "lastProbedAt": None,
                    "lastSuccessAt": None,
                    "latencyMs": 142,
                    "consecutiveFailures": 0,
                    "lastError": "",
                },
                "spec_version": "1.0",
                "status": "active",
                "capability_snippet": {
                    "kind": "a2a.skill",
                    "name": "Translate EN-DE",
                    "description": "Both ways",
                    "tags": ["german"],
                    "inputModes": ["text/plain"],
                    "outputModes": ["text/plain"],
                },
            }
        ],
    }


def test_detail_lists_agents_in_any_status_sorted_by_name(viewer_api):
    for name, status in zip("edcba", Status, strict=True):
        entry = CatalogEntryFactory(display_name=name, status=status)
        add_capability(entry, "Translate")
    agents = viewer_api.get(detail_url("Translate")).json()["agents"]

    assert [agent["display_name"] for agent in agents] == list("abcde")
    assert [agent["status"] for agent in agents] == list(reversed(Status.values))
    assert all(agent["health"]["state"] == agent["status"] for agent in agents)


def test_detail_shows_each_agents_own_description_and_tags(viewer_api):
    for n in range(2):
        entry = CatalogEntryFactory(display_name=f"Agent {n}")
        properties = {"tags": [str(n)]}
        add_capability(
            entry, "Translate", description=f"Text {n}", properties=properties
        )
    agents = viewer_api.get(detail_url("Translate")).json()["agents"]

    snippets = [agent["capability_snippet"] for agent in agents]
    assert [(item["description"], item["tags"]) for item in snippets] == [
        ("Text 0", ["0"]),
        ("Text 1", ["1"]),
    ]


def test_detail_has_null_for_missing_provider(viewer_api):
    add_capability(CatalogEntryFactory(agent_type__provider=None), "Translate")

    assert (
        viewer_api.get(detail_url("Translate")).json()["agents"][0]["provider"] is None
    )


@pytest.mark.parametrize("key", ["Translate", "a2a.skill", "a2a.skill:Translate", "%"])
def test_detail_rejects_key_without_separator(viewer_api, key):
    response = viewer_api.get(f"{LIST_URL}/{quote(key, safe='')}")

    assert_error_response(response, 400, "INVALID_KEY")


@pytest.mark.parametrize(
    "key", ["a2a.skill::Nothing", "a2a.skill::", "::Translate", "::", "x::Translate"]
)
def test_detail_of_capability_that_no_agent_offers_returns_404(viewer_api, key):
    add_capability(CatalogEntryFactory(), "Translate")

    assert_error_response(
        viewer_api.get(f"{LIST_URL}/{key}"), 404, "CAPABILITY_NOT_FOUND"
    )


@pytest.mark.parametrize("name", ["translate", "TRANSLATE", "Translat", "Translate "])
def test_detail_matches_name_exactly(viewer_api, name):
    add_capability(CatalogEntryFactory(), "Translate")

    assert_error_response(viewer_api.get(detail_url(name)), 404, "CAPABILITY_NOT_FOUND")


@pytest.mark.parametrize("key", ["x%00", "a2a.skill::x%00"])
def test_detail_rejects_key_with_nul(viewer_api, key):
    assert viewer_api.get(f"{LIST_URL}/{key}").status_code in (400, 404)


def test_detail_of_technical_kind_returns_404(viewer_api):
    entry = register(card_bytes()).entry
    interface = entry.agent_type.capabilities.get(kind="a2a.interface")

    response = viewer_api.get(detail_url(interface.name, interface.kind))
    assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")


def test_detail_rejects_parameters(viewer_api):
    add_capability(CatalogEntryFactory(), "Translate")

    response = viewer_api.get(f"{detail_url('Translate')}?q=x")
    assert_error_response(response, 400, "INVALID_PARAMETER")


@unusual_names
def test_unusual_name_is_listed_and_found_by_its_key(viewer_api, name):
    add_capability(CatalogEntryFactory(), name)
    listed_name = viewer_api.get(LIST_URL).json()["items"][0]["name"]
    response = viewer_api.get(detail_url(listed_name))

    assert listed_name == name
    assert response.status_code == 200
    assert response.json()["capability"] == {"kind": "a2a.skill", "name": name}
    assert response.json()["agents"][0]["capability_snippet"]["name"] == name


def test_unusual_names_are_found_through_a_real_server(agentlens_url):
    for name in UNUSUAL_NAMES:
        add_capability(CatalogEntryFactory(), name)
    _, token = AuthToken.objects.create(UserFactory(role="Viewer"))
    headers = {"Authorization": f"Bearer {token}"}
    names = {}
    for name in UNUSUAL_NAMES:
        request = Request(agentlens_url + detail_url(name), headers=headers)
        with urlopen(request) as response:
            names[name] = json.load(response)["capability"]["name"]

    assert names == {name: name for name in UNUSUAL_NAMES}


def test_kind_of_another_app_is_listed_and_found(weather, editor_api):
    station = {
        "station": "Śnieżka",
        "address": "https://sniezka.example.org/weather",
        "forecasts": [{"name": "Snow", "regions": ["Karkonosze"]}],
    }
    entry = editor_api.post("/api/v1/catalog/register", station, format="json").json()
    curate(CatalogEntry.objects.get(), {"status": "active"}, by=UserFactory())
    filters = {"q": "KARKONOSZE", "kind": "weather.forecast"}
    item = editor_api.get(LIST_URL, filters).json()["items"][0]

    assert (item["name"], item["agent_id"]) == ("Snow", entry["id"])
    assert set(item) == ITEM_MEMBERS
    agents = editor_api.get(detail_url("Snow", "weather.forecast")).json()["agents"]
    assert agents[0]["capability_snippet"]["regions"] == ["Karkonosze"]


def test_kind_that_becomes_discoverable_is_found_at_once(viewer_api):
    entry = register(card_bytes()).entry
    curate(entry, {"status": "active"}, by=UserFactory())
    name = entry.agent_type.capabilities.get(kind="a2a.interface").name
    discoverable_kind = replace(kinds.get("a2a.interface"), discoverable=True)

    with kinds.temporarily(discoverable_kind):
        assert viewer_api.get(f"{LIST_URL}?kind=a2a.interface").json()["total"] == 1
        assert viewer_api.get(detail_url(name, "a2a.interface")).status_code == 200
    assert viewer_api.get(f"{LIST_URL}?kind=a2a.interface").status_code == 400


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (LIST_URL, 3),
        (f"{LIST_URL}?q=translate", 2),
        (f"{LIST_URL}?q=tr", 2),
        (f"{LIST_URL}?q=translate&kind=a2a.skill&sort=agentName_asc&limit=200", 2),
        (f"{LIST_URL}?q=nothing+like+it", 1),
        (detail_url("Translate"), 1),
    ],
)
def test_capability_query_count_is_independent_of_number_of_agents(
    viewer_api, url, expected
):
    counts = []
    for count in (3, 57):
        for _ in range(count):
            add_capability(CatalogEntryFactory(), "Translate")
        counts.append(count_queries(viewer_api, url))

    assert counts == [expected, expected]


def test_serializer_declares_exactly_the_fields_of_search_rows():
    assert tuple(CapabilityInstanceSerializer().fields) == ITEM_FIELDS
