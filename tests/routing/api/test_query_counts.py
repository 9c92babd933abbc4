"""Query counts: independent of the number of providers and capabilities."""

import pytest

from tests.queries import count_queries
from tests.routing.api.requests import REGISTRY_URL
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

# The list needs three: the names, their number and their providers.
EXPECTED_COUNTS = {
    "": 3,
    "?include_metadata=true": 3,
    "?capability=data-analysis&status=active&version=1.0.0": 3,
    "/data-analysis": 1,
    "/data-analysis?routing_strategy=least_loaded&include_unhealthy=true": 1,
    '/data-analysis?version=1.0.0&metadata_filter={"a":1}': 1,
    "/data-analysis/health": 1,
    "/health": 1,
}


def count_queries_of_paths(client) -> dict[str, int]:
    return {
        path: count_queries(client, REGISTRY_URL + path) for path in EXPECTED_COUNTS
    }


def create_providers(count: int, capability: str = "data-analysis") -> None:
    RegistrationFactory.create_batch(count, capability=capability, metadata={"a": 1})


def test_registry_query_count_is_independent_of_number_of_providers(viewer_api):
    counts = []
    for count in (1, 9, 90):
        create_providers(count)
        counts.append(count_queries_of_paths(viewer_api))

    assert counts == [EXPECTED_COUNTS] * 3
    decision = viewer_api.get(f"{REGISTRY_URL}/data-analysis").json()
    assert len(decision["providers"]) == 100


def test_registry_query_count_is_independent_of_number_of_capabilities(viewer_api):
    for n in range(50):
        create_providers(2, f"capability-{n}")
    create_providers(1)

    assert count_queries_of_paths(viewer_api) == EXPECTED_COUNTS


def test_load_balance_needs_one_more_query_without_redis(viewer_api, settings):
    settings.REDIS_URL = ""
    create_providers(10)
    url = f"{REGISTRY_URL}/data-analysis?routing_strategy=load_balance"

    assert (
        count_queries(viewer_api, url)
        == count_queries(viewer_api, f"{url}&peek=true")
        == 2
    )
