"""Query counts of the pages, which do not grow with the number of rows."""

import pytest

from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.queries import SESSION_QUERIES, count_queries
from tests.registered_agents import agent_card, register_agent

pytestmark = pytest.mark.django_db

CAPABILITIES_URL = "/catalog/capabilities"


def test_session_authentication_takes_three_queries(
    editor_client, django_assert_num_queries
):
    with django_assert_num_queries(SESSION_QUERIES):
        assert editor_client.get("/catalog/register").status_code == 200


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        # The total, the matching IDs, the counts of the kinds, and the rows.
        (CAPABILITIES_URL, 4),
        (f"{CAPABILITIES_URL}?q=skill&kind=a2a.skill", 3),
        (f"{CAPABILITIES_URL}?shown=100&sort=agentName_asc", 4),
        # The total, the rows, and the counts of protocols, statuses and features.
        ("/catalog", 5),
        ("/catalog?q=agent&protocol=a2a&status=active&kind=a2a.skill", 5),
        ("/catalog?sort=createdAt_desc", 5),
    ],
)
def test_list_page_query_count_is_independent_of_number_of_entries(
    viewer_client, url, expected
):
    CatalogEntryFactory.create_batch(3, offers=["a2a.skill", "mcp.tool"])
    count_for_few = count_queries(viewer_client, url)
    CatalogEntryFactory.create_batch(57, offers=["a2a.skill", "mcp.tool"])

    assert (count_for_few, count_queries(viewer_client, url)) == (expected, expected)


def test_capability_page_query_count_is_independent_of_number_of_agents(viewer_client):
    counts = []
    for numbers in (range(3), range(3, 60)):
        for n in numbers:
            register_agent(agent_card(f"Agent {n}", "Translate text"))
        url = f"{CAPABILITIES_URL}/a2a.skill::Translate text"
        counts.append(count_queries(viewer_client, url))

    assert counts == [1, 1]


def test_entry_page_query_count_is_independent_of_number_of_skills(viewer_client):
    counts = []
    for skill_count in (3, 60):
        skills = [skill(f"Skill {n}") for n in range(skill_count)]
        entry = register(card_bytes(version=f"1.{skill_count}", skills=skills)).entry
        counts.append(count_queries(viewer_client, f"/catalog/{entry.pk}"))

    assert counts == [6, 6]


def test_entry_page_query_count_is_independent_of_number_of_versions(viewer_client):
    for n in range(60):
        entry = register(card_bytes(version=f"1.{n}", skills=[skill(f"{n}")])).entry

    assert count_queries(viewer_client, f"/catalog/{entry.pk}") == 6
