"""How many queries an answer takes: as many for a hundred providers as for one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.catalog.api.test_query_counts import WHO
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"
# A list asks for its names, their number and their providers.
PLACES = {
    "": 3,
    "?include_metadata=true": 3,
    "?capability=data-analysis&status=active&version=1.0.0": 3,
    "/data-analysis": 1,
    "/data-analysis?routing_strategy=least_loaded&include_unhealthy=true": 1,
    '/data-analysis?version=1.0.0&metadata_filter={"a":1}': 1,
    "/data-analysis/health": 1,
    "/health": 1,
}


def queries(client, place: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(REGISTRY + place)
    assert answer.status_code == 200, answer.json()
    return len(captured) - WHO


def make_providers(count: int, capability: str = "data-analysis") -> None:
    RegistrationFactory.create_batch(count, capability=capability, metadata={"a": 1})


def test_answers_take_as_many_queries_for_a_hundred_providers_as_for_one(viewer):
    counts = []
    for more in (1, 9, 90):
        make_providers(more)
        counts.append({place: queries(viewer, place) for place in PLACES})

    assert counts == [PLACES] * 3
    told = viewer.get(f"{REGISTRY}/data-analysis").json()
    assert len(told["providers"]) == 100


def test_so_do_they_for_many_capabilities(viewer):
    for n in range(50):
        make_providers(2, f"capability-{n}")
    make_providers(1)

    assert {place: queries(viewer, place) for place in PLACES} == PLACES


def test_a_balanced_choice_takes_one_more_in_the_database(viewer, settings):
    settings.REDIS_URL = ""
    make_providers(10)
    place = "/data-analysis?routing_strategy=load_balance"

    assert queries(viewer, place) == queries(viewer, f"{place}&peek=true") == 2
