"""How many queries a page takes, written down: as many for sixty rows as for three."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.published import agent, publish

pytestmark = pytest.mark.django_db

INDEX = "/catalog/capabilities"
# To know a session: itself, its user, and what this user may.
WHO = 3


def queries(client, place: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(place)
    assert answer.status_code == 200
    return len(captured) - WHO


def test_knowing_who_asks_takes_three_queries(curator, django_assert_num_queries):
    with django_assert_num_queries(WHO):
        assert curator.get("/catalog/register").status_code == 200


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        # How many, which, and the counts of the kinds; then the rows themselves.
        (INDEX, 4),
        (f"{INDEX}?q=skill&kind=a2a.skill", 3),
        (f"{INDEX}?shown=100&sort=agentName_asc", 4),
        # How many and which, and the counts of protocols, statuses and features.
        ("/catalog", 5),
        ("/catalog?q=agent&protocol=a2a&status=active&kind=a2a.skill", 5),
        ("/catalog?sort=createdAt_desc", 5),
    ],
)
def test_a_list_takes_as_many_for_sixty_as_for_three(reader, place, expected):
    CatalogEntryFactory.create_batch(3, offers=["a2a.skill", "mcp.tool"])
    few = queries(reader, place)
    CatalogEntryFactory.create_batch(57, offers=["a2a.skill", "mcp.tool"])

    assert (few, queries(reader, place)) == (expected, expected)


def test_a_capability_takes_one_query_however_many_offer_it(reader):
    counts = []
    for numbers in (range(3), range(3, 60)):
        for n in numbers:
            publish(agent(f"Agent {n}", "Translate text"))
        counts.append(queries(reader, f"{INDEX}/a2a.skill::Translate text"))

    assert counts == [1, 1]


def test_an_agent_takes_six_queries_whatever_it_can_do(reader):
    counts = []
    for skills in (3, 60):
        named = [skill(f"Skill {n}") for n in range(skills)]
        entry = register(card_bytes(version=f"1.{skills}", skills=named)).entry
        counts.append(queries(reader, f"/catalog/{entry.pk}"))

    assert counts == [6, 6]


def test_and_six_however_many_versions_it_has(reader):
    for n in range(60):
        entry = register(card_bytes(version=f"1.{n}", skills=[skill(f"{n}")])).entry

    assert queries(reader, f"/catalog/{entry.pk}") == 6
