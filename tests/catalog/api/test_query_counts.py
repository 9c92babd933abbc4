"""Query counts of the API, which do not grow with the number of rows."""

import pytest
from django.utils import timezone

from catalog.registration.service import register
from tests.factories import CapabilityFactory, CatalogEntryFactory, card_bytes, skill
from tests.queries import TOKEN_QUERIES, count_queries

from .entries import CATALOG_URL, entry_url

pytestmark = pytest.mark.django_db

KINDS_URL = "/api/v1/kinds"
STATS_URL = "/api/v1/stats"


def create_entries(count: int) -> None:
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


def test_token_authentication_takes_one_query(viewer_api, django_assert_num_queries):
    with django_assert_num_queries(TOKEN_QUERIES):
        assert viewer_api.get(KINDS_URL).status_code == 200


LIST_QUERIES = [
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


def test_catalog_list_query_count_is_independent_of_number_of_entries(viewer_api):
    urls = [f"{CATALOG_URL}?{query}" for query in LIST_QUERIES]
    create_entries(3)
    counts_for_few = {url: count_queries(viewer_api, url) for url in urls}
    create_entries(27)

    counts_for_many = {url: count_queries(viewer_api, url) for url in urls}
    assert counts_for_few == counts_for_many == dict.fromkeys(urls, 2)
    assert {viewer_api.get(url).json()["total"] for url in urls} == {30}


def test_list_of_one_provider_takes_two_queries(viewer_api):
    entry = CatalogEntryFactory()
    provider = entry.agent_type.provider
    CatalogEntryFactory.create_batch(29, agent_type__provider=provider)

    url = f"{CATALOG_URL}?provider={provider.organization}"
    assert count_queries(viewer_api, url) == 2


def test_entry_query_count_is_independent_of_number_of_skills(viewer_api):
    for skill_count in (3, 60):
        skills = [skill(f"Skill {n}") for n in range(skill_count)]
        entry = register(card_bytes(version=f"{skill_count}", skills=skills)).entry

        assert count_queries(viewer_api, entry_url(entry)) == 2


def test_card_takes_one_query(viewer_api):
    entry = register(card_bytes()).entry

    assert count_queries(viewer_api, entry_url(entry, "card")) == 1


def test_versions_query_count_is_independent_of_number_of_versions(viewer_api):
    counts = []
    for numbers in (range(3), range(3, 30)):
        for n in numbers:
            entry = register(card_bytes(version=f"1.{n}", skills=[skill(f"{n}")])).entry
        counts.append(count_queries(viewer_api, entry_url(entry, "versions")))

    assert counts == [4, 4]


def test_stats_query_count_is_independent_of_number_of_entries(viewer_api):
    create_entries(3)
    count_for_few = count_queries(viewer_api, STATS_URL)
    create_entries(27)

    assert (count_for_few, count_queries(viewer_api, STATS_URL)) == (4, 4)
    assert viewer_api.get(STATS_URL).json()["kind"]["mcp.tool"] == 30


def test_kinds_take_no_queries(viewer_api):
    assert count_queries(viewer_api, KINDS_URL) == 0
