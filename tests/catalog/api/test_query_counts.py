"""How many queries an answer takes, written down: as many for thirty as for three."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.registration.service import register
from tests.factories import CapabilityFactory, CatalogEntryFactory, card_bytes, skill

pytestmark = pytest.mark.django_db

# To know a bearer: the token with its user and what this user may.
WHO = 1


def queries(client, place: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(place)
    assert answer.status_code == 200, answer.json()
    return len(captured) - WHO


def make_entries(count: int) -> None:
    for _ in range(count):
        entry = CatalogEntryFactory(
            categories=["Field work"],
            last_success_at=timezone.now(),
            offers=["a2a.skill", "mcp.tool"],
        )
        CapabilityFactory(
            agent_type=entry.agent_type,
            kind="agent.feature",
            name="transport.streaming",
            properties={"value": True},
        )


def test_knowing_who_asks_takes_one_query(viewer, django_assert_num_queries):
    with django_assert_num_queries(WHO):
        assert viewer.get("/api/v1/kinds").status_code == 200


QUESTIONS = [
    "",
    "q=agent+skill",
    "protocol=a2a",
    "status=active,degraded",
    "kind=a2a.skill&kind=mcp.tool",
    "feature=transport.streaming",
    "category=field+work",
    "source=push",
    "sort=displayName_asc",
    "sort=createdAt_desc",
    "sort=lastSuccessAt_desc",
    "limit=200&offset=1",
    "q=agent&status=active&kind=a2a.skill&category=field+work&sort=createdAt_desc",
]


def test_a_list_takes_two_queries_however_it_is_asked(viewer):
    places = [f"/api/v1/catalog?{question}" for question in QUESTIONS]
    make_entries(3)
    few = {place: queries(viewer, place) for place in places}
    make_entries(27)

    many = {place: queries(viewer, place) for place in places}
    assert few == many == dict.fromkeys(places, 2)
    assert {viewer.get(place).json()["total"] for place in places} == {30}


def test_so_does_the_list_of_one_provider(viewer):
    entry = CatalogEntryFactory()
    provider = entry.agent_type.provider
    CatalogEntryFactory.create_batch(29, agent_type__provider=provider)

    place = f"/api/v1/catalog?provider={provider.organization}"
    assert queries(viewer, place) == 2


def test_an_entry_takes_two_queries_whatever_it_can_do(viewer):
    for skills in (3, 60):
        named = [skill(f"Skill {n}") for n in range(skills)]
        entry = register(card_bytes(version=f"{skills}", skills=named)).entry

        assert queries(viewer, f"/api/v1/catalog/{entry.pk}") == 2


def test_a_card_takes_one_query(viewer):
    entry = register(card_bytes()).entry

    assert queries(viewer, f"/api/v1/catalog/{entry.pk}/card") == 1


def test_versions_take_four_queries_however_many_there_are(viewer):
    counts = []
    for versions in (range(3), range(3, 30)):
        for n in versions:
            entry = register(card_bytes(version=f"1.{n}", skills=[skill(f"{n}")])).entry
        counts.append(queries(viewer, f"/api/v1/catalog/{entry.pk}/versions"))

    assert counts == [4, 4]


def test_stats_take_four_queries_however_much_they_count(viewer):
    make_entries(3)
    few = queries(viewer, "/api/v1/stats")
    make_entries(27)

    assert (few, queries(viewer, "/api/v1/stats")) == (4, 4)
    assert viewer.get("/api/v1/stats").json()["kind"]["mcp.tool"] == 30


def test_kinds_take_none(viewer):
    assert queries(viewer, "/api/v1/kinds") == 0
