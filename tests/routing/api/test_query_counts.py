"""Query counts: independent of the number of providers and capabilities."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.routing.api.requests import REGISTRY_URL
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

# The token with its user and the permissions of the user.
AUTHENTICATION_QUERIES = 1
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


def count_queries(client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        response = client.get(REGISTRY_URL + path)
    assert response.status_code == 200, response.json()
    return len(captured) - AUTHENTICATION_QUERIES


def make_providers(count: int, capability: str = "data-analysis") -> None:
    RegistrationFactory.create_batch(count, capability=capability, metadata={"a": 1})


def test_query_count_is_independent_of_number_of_providers(viewer):
    counts = []
    for count in (1, 9, 90):
        make_providers(count)
        counts.append({path: count_queries(viewer, path) for path in EXPECTED_COUNTS})

    assert counts == [EXPECTED_COUNTS] * 3
    decision = viewer.get(f"{REGISTRY_URL}/data-analysis").json()
    assert len(decision["providers"]) == 100


def test_query_count_is_independent_of_number_of_capabilities(viewer):
    for n in range(50):
        make_providers(2, f"capability-{n}")
    make_providers(1)

    assert {
        path: count_queries(viewer, path) for path in EXPECTED_COUNTS
    } == EXPECTED_COUNTS


def test_load_balance_needs_one_more_query_without_redis(viewer, settings):
    settings.REDIS_URL = ""
    make_providers(10)
    path = "/data-analysis?routing_strategy=load_balance"

    assert (
        count_queries(viewer, path) == count_queries(viewer, f"{path}&peek=true") == 2
    )
