"""Seed 000's two routes: its handler tests, and what hard names do to them."""

import json
from dataclasses import replace
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from django.apps import AppConfig
from django.db import connection
from django.test.utils import CaptureQueriesContext
from knox.models import AuthToken
from rest_framework.test import APIClient

from capabilities.kinds import kinds
from capabilities.parsers import parsers
from catalog.api.capabilities import CapabilityInstanceSerializer
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from catalog.search import query
from catalog.search.indexer import index_entries
from tests.api_errors import assert_error_response
from tests.factories import (
    CapabilityFactory,
    CatalogEntryFactory,
    UserFactory,
    card_bytes,
)

pytestmark = pytest.mark.django_db

LIST = "/api/v1/capabilities"
FIELDS = {
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
HARD_NAMES = [
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
hard_names = pytest.mark.parametrize("name", HARD_NAMES, ids=ascii)


def offer(entry, name, kind="a2a.skill", **fields):
    made = CapabilityFactory(
        agent_type=entry.agent_type, kind=kind, name=name, **fields
    )
    index_entries(CatalogEntry.objects.filter(pk=entry.pk))
    return made


def place(name: str, kind="a2a.skill") -> str:
    """As a browser's encodeURIComponent makes it."""
    return f"{LIST}/{quote(f'{kind}::{name}', safe='')}"


def test_without_parameters_all_is_listed_by_name(viewer):
    entry = CatalogEntryFactory()
    for name in ("cherry", "Apple", "banana"):
        offer(entry, name)
    answer = viewer.get(LIST)

    assert answer.status_code == 200
    assert set(answer.json()) == {"total", "items"}
    listed = [item["name"] for item in answer.json()["items"]]
    assert listed == ["Apple", "banana", "cherry"]


def test_an_item_is_the_fifteen_fields_of_the_seeds_example(viewer):
    entry = CatalogEntryFactory(
        display_name="Translation Agent",
        latency_ms=142,
        agent_type__spec_version="1.0",
        agent_type__provider__organization="Acme",
        agent_type__provider__url="https://acme.io",
    )
    listed = {
        "tags": ["translation", "german", "english"],
        "input_modes": ["text/plain"],
        "output_modes": ["text/plain"],
    }
    about = "Bidirectional translation between English and German"
    offer(entry, "Translate EN-DE", description=about, properties={"id": "t", **listed})

    assert viewer.get(LIST).json() == {
        "total": 1,
        "items": [
            {
                "kind": "a2a.skill",
                "name": "Translate EN-DE",
                "description": about,
                **listed,
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


def test_all_fields_are_there_when_nothing_is_known(viewer):
    bare = CatalogEntryFactory(
        status=Status.DEGRADED,
        agent_type__protocol="mcp",
        agent_type__spec_version="",
        agent_type__provider=None,
    )
    offer(bare, "search_documents", kind="mcp.tool", properties={"title": "x"})
    item = viewer.get(LIST).json()["items"][0]

    assert set(item) == FIELDS
    nothing = ("tags", "input_modes", "output_modes", "provider_org", "provider_url")
    assert {item[field] for field in nothing} == {None}
    assert (item["spec_version"], item["latency_ms"]) == ("", 0)
    assert item["status"] == item["health_state"] == "degraded"


def test_a_provider_without_an_address_has_null_for_it(viewer):
    offer(CatalogEntryFactory(agent_type__provider__url=""), "Translate")

    assert viewer.get(LIST).json()["items"][0]["provider_url"] is None


def test_what_is_asked_is_answered_together(viewer):
    entry = CatalogEntryFactory()
    for n in range(5):
        offer(entry, f"Translate {n}")
        offer(entry, f"Translate {n}", kind="mcp.tool")
    asked = {"q": "TRANSLATE", "kind": "mcp.tool", "sort": "agentName_asc"}
    body = viewer.get(LIST, asked | {"limit": 2, "offset": 2}).json()

    assert body["total"] == 5
    assert [item["name"] for item in body["items"]] == ["Translate 2", "Translate 3"]
    assert {item["kind"] for item in body["items"]} == {"mcp.tool"}


def test_an_empty_value_is_as_if_it_were_absent(viewer):
    offer(CatalogEntryFactory(), "Translate")

    assert viewer.get(f"{LIST}?q=&kind=&sort=&limit=&offset=").json()["total"] == 1


@pytest.mark.parametrize(
    ("question", "parameter"),
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
def test_what_makes_no_sense_is_refused(viewer, question, parameter):
    body = assert_error_response(
        viewer.get(f"{LIST}?{question}"), 400, "INVALID_PARAMETER"
    )

    assert body["details"] == {"parameter": parameter}


def test_lists_hold_fifty_and_two_hundred_at_most(viewer):
    entry = CatalogEntryFactory()
    for n in range(201):
        CapabilityFactory(agent_type=entry.agent_type, name=f"{n:03}")
    index_entries(CatalogEntry.objects.all())

    assert len(viewer.get(LIST).json()["items"]) == 50
    assert len(viewer.get(f"{LIST}?limit=200").json()["items"]) == 200
    last = viewer.get(f"{LIST}?limit=200&offset=200").json()
    assert (last["total"], [item["name"] for item in last["items"]]) == (201, ["200"])


@pytest.mark.parametrize("path", ["", "/", "/a2a.skill::x", "?q=x"])
def test_there_are_no_skills(viewer, path):
    assert_error_response(viewer.get(f"/api/v1/skills{path}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("path", [LIST, f"{LIST}/a2a.skill::x"])
def test_it_is_only_for_reading(admin, method, path):
    assert_error_response(getattr(admin, method)(path), 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("role", ["Viewer", "Editor", "Admin"])
def test_every_role_may_list_and_read(client_for, role):
    offer(CatalogEntryFactory(), "Translate")
    client = client_for(role)

    assert client.get(LIST).status_code == 200
    assert client.get(place("Translate")).status_code == 200


@pytest.mark.parametrize("path", [LIST, f"{LIST}/a2a.skill::x", f"{LIST}/nonsense"])
def test_a_stranger_may_not(path):
    assert_error_response(APIClient().get(path), 401, "NOT_AUTHENTICATED")


def test_a_user_without_a_role_may_not():
    client = APIClient()
    client.force_authenticate(UserFactory())

    assert_error_response(client.get(LIST), 403, "PERMISSION_DENIED")


def test_a_stranger_may_where_everybody_may_read(settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    offer(CatalogEntryFactory(), "Translate")

    assert APIClient().get(LIST).json()["total"] == 1
    assert APIClient().get(place("Translate")).status_code == 200


def test_an_answer_that_did_not_change_is_not_sent_again(viewer):
    offer(CatalogEntryFactory(), "Translate")
    for path in (LIST, place("Translate")):
        etag = viewer.get(path)["ETag"]
        assert etag.startswith('W/"')
        assert viewer.get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304


def test_the_detail_is_the_seeds_example(viewer):
    entry = CatalogEntryFactory(
        display_name="Translation Agent",
        latency_ms=142,
        agent_type__provider__organization="Acme",
        agent_type__provider__url="https://acme.io",
    )
    told = {"id": "t", "tags": ["german"], "input_modes": ["text/plain"]}
    told |= {"output_modes": ["text/plain"], "security": [{"key": []}]}
    offer(entry, "Translate EN-DE", description="Both ways", properties=told)

    assert viewer.get(place("Translate EN-DE")).json() == {
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


def test_the_detail_shows_agents_in_all_statuses_by_name(viewer):
    for name, status in zip("edcba", Status, strict=True):
        offer(CatalogEntryFactory(display_name=name, status=status), "Translate")
    agents = viewer.get(place("Translate")).json()["agents"]

    assert [agent["display_name"] for agent in agents] == list("abcde")
    assert [agent["status"] for agent in agents] == list(reversed(Status.values))
    assert [agent["health"]["state"] for agent in agents] == [
        agent["status"] for agent in agents
    ]


def test_each_agent_has_its_own_snippet(viewer):
    for n in range(2):
        entry = CatalogEntryFactory(display_name=f"Agent {n}")
        offer(entry, "Translate", description=f"Way {n}", properties={"tags": [str(n)]})
    agents = viewer.get(place("Translate")).json()["agents"]

    snippets = [agent["capability_snippet"] for agent in agents]
    assert [(one["description"], one["tags"]) for one in snippets] == [
        ("Way 0", ["0"]),
        ("Way 1", ["1"]),
    ]


def test_an_agent_of_nobody_has_null_for_its_provider(viewer):
    offer(CatalogEntryFactory(agent_type__provider=None), "Translate")

    assert viewer.get(place("Translate")).json()["agents"][0]["provider"] is None


@pytest.mark.parametrize("key", ["Translate", "a2a.skill", "a2a.skill:Translate", "%"])
def test_a_key_without_two_colons_is_refused(viewer, key):
    answer = viewer.get(f"{LIST}/{quote(key, safe='')}")

    assert_error_response(answer, 400, "INVALID_KEY")


@pytest.mark.parametrize(
    "key", ["a2a.skill::Nothing", "a2a.skill::", "::Translate", "::", "x::Translate"]
)
def test_what_nobody_offers_is_not_found(viewer, key):
    offer(CatalogEntryFactory(), "Translate")

    assert_error_response(viewer.get(f"{LIST}/{key}"), 404, "CAPABILITY_NOT_FOUND")


@pytest.mark.parametrize("name", ["translate", "TRANSLATE", "Translat", "Translate "])
def test_another_spelling_is_another_capability(viewer, name):
    offer(CatalogEntryFactory(), "Translate")

    assert_error_response(viewer.get(place(name)), 404, "CAPABILITY_NOT_FOUND")


@pytest.mark.parametrize("key", ["x%00", "a2a.skill::x%00"])
def test_a_key_that_no_database_could_hold_is_no_failure(viewer, key):
    assert viewer.get(f"{LIST}/{key}").status_code in (400, 404)


def test_a_technical_kind_is_not_found_though_it_is_there(viewer):
    entry = register(card_bytes()).entry
    made = entry.agent_type.capabilities.get(kind="a2a.interface")

    answer = viewer.get(place(made.name, made.kind))
    assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")


def test_the_detail_takes_no_parameters(viewer):
    offer(CatalogEntryFactory(), "Translate")

    answer = viewer.get(f"{place('Translate')}?q=x")
    assert_error_response(answer, 400, "INVALID_PARAMETER")


@hard_names
def test_any_name_is_listed_and_found_by_its_key(viewer, name):
    offer(CatalogEntryFactory(), name)
    listed = viewer.get(LIST).json()["items"][0]["name"]
    answer = viewer.get(place(listed))

    assert listed == name
    assert answer.status_code == 200
    assert answer.json()["capability"] == {"kind": "a2a.skill", "name": name}
    assert answer.json()["agents"][0]["capability_snippet"]["name"] == name


def test_any_name_is_found_in_the_served_application(server):
    for name in HARD_NAMES:
        offer(CatalogEntryFactory(), name)
    _, token = AuthToken.objects.create(UserFactory(role="Viewer"))
    headers = {"Authorization": f"Bearer {token}"}
    found = {}
    for name in HARD_NAMES:
        with urlopen(Request(server + place(name), headers=headers)) as answer:
            found[name] = json.load(answer)["capability"]["name"]

    assert found == {name: name for name in HARD_NAMES}


@pytest.fixture
def weather():
    with kinds.temporarily(), parsers.temporarily():
        AppConfig.create("tests.weather").ready()
        yield


def test_a_kind_of_another_app_is_listed_searched_and_shown(weather, editor):
    station = {
        "station": "Śnieżka",
        "address": "https://sniezka.example.org/weather",
        "forecasts": [{"name": "Snow", "regions": ["Karkonosze"]}],
    }
    made = editor.post("/api/v1/catalog/register", station, format="json").json()
    curate(CatalogEntry.objects.get(), {"status": "active"}, by=UserFactory())
    asked = {"q": "KARKONOSZE", "kind": "weather.forecast"}
    item = editor.get(LIST, asked).json()["items"][0]

    assert (item["name"], item["agent_id"]) == ("Snow", made["id"])
    assert set(item) == FIELDS
    agents = editor.get(place("Snow", "weather.forecast")).json()["agents"]
    assert agents[0]["capability_snippet"]["regions"] == ["Karkonosze"]


def test_a_technical_kind_made_discoverable_is_there_at_once(viewer):
    entry = register(card_bytes()).entry
    curate(entry, {"status": "active"}, by=UserFactory())
    name = entry.agent_type.capabilities.get(kind="a2a.interface").name
    known = replace(kinds.get("a2a.interface"), discoverable=True)

    with kinds.temporarily(known):
        assert viewer.get(f"{LIST}?kind=a2a.interface").json()["total"] == 1
        assert viewer.get(place(name, "a2a.interface")).status_code == 200
    assert viewer.get(f"{LIST}?kind=a2a.interface").status_code == 400


# To know a bearer: the token with its user and what this user may.
WHO = 1


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        (LIST, 3),
        (f"{LIST}?q=translate", 2),
        (f"{LIST}?q=tr", 2),
        (f"{LIST}?q=translate&kind=a2a.skill&sort=agentName_asc&limit=200", 2),
        (f"{LIST}?q=nothing+says+this", 1),
        (place("Translate"), 1),
    ],
)
def test_sixty_take_as_many_queries_as_three(viewer, path, needed):
    counts = []
    for more in (3, 57):
        for _ in range(more):
            offer(CatalogEntryFactory(), "Translate")
        with CaptureQueriesContext(connection) as captured:
            assert viewer.get(path).status_code == 200
        counts.append(len(captured) - WHO)

    assert counts == [needed, needed]


def test_the_schema_declares_the_fields_that_the_search_returns():
    assert tuple(CapabilityInstanceSerializer().fields) == query.RESULT_FIELDS
