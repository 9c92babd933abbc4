from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health.status import record_probe
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.probes import failed, well

pytestmark = pytest.mark.django_db


def health(client, entry):
    return client.get(f"/api/v1/catalog/{entry.pk}/health")


def test_it_tells_how_an_agent_is_and_has_been(viewer):
    entry = CatalogEntryFactory()
    now = timezone.now()
    record_probe(entry, well(120, now - timedelta(hours=2)))
    record_probe(entry, failed(now - timedelta(hours=1)))
    body = health(viewer, entry).json()

    assert body["health"]["state"] == "degraded"
    assert body["uptime"] == {"24h": 0.5, "7d": 0.5, "90d": 0.5}
    assert body["latency"] == {"p50Ms": 120, "p95Ms": 120, "probes": 2, "failures": 1}
    assert [(p["ok"], p["latencyMs"], p["error"]) for p in body["recent"]] == [
        (False, None, "HTTP 503"),
        (True, 120, ""),
    ]
    counts = [(h["probes"], h["failures"], h["latencyMs"]) for h in body["hours"]]
    assert counts == [(1, 0, 120), (1, 1, None)]


def test_an_agent_never_probed_has_no_figures(viewer):
    body = health(viewer, CatalogEntryFactory()).json()

    assert body["uptime"] == {"24h": None, "7d": None, "90d": None}
    assert body["latency"] == {"p50Ms": None, "p95Ms": None, "probes": 0, "failures": 0}
    assert (body["recent"], body["hours"]) == ([], [])


def test_at_most_a_hundred_recent_probes_are_listed(viewer):
    entry = CatalogEntryFactory()
    now = timezone.now()
    for n in range(120):
        record_probe(entry, well(n, now - timedelta(seconds=n)))
    recent = health(viewer, entry).json()["recent"]

    assert [probe["latencyMs"] for probe in recent] == list(range(100))


def test_an_unknown_agent_and_parameter_are_refused(viewer):
    entry = CatalogEntryFactory()
    unknown = viewer.get(f"/api/v1/catalog/{entry.agent_type_id}/health")
    assert_error_response(unknown, 404, "ENTRY_NOT_FOUND")
    asked = viewer.get(f"/api/v1/catalog/{entry.pk}/health?days=3")
    assert_error_response(asked, 400, "INVALID_PARAMETER")
