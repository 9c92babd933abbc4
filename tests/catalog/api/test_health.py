from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health.status import record_probe
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success

from .entries import CATALOG_URL, entry_url

pytestmark = pytest.mark.django_db


def get_health(client, entry):
    return client.get(entry_url(entry, "health"))


def test_health_shows_state_uptime_latency_and_probes(viewer_api):
    entry = CatalogEntryFactory()
    now = timezone.now()
    record_probe(entry, success(120, now - timedelta(hours=2)))
    record_probe(entry, failure(now - timedelta(hours=1)))
    body = get_health(viewer_api, entry).json()

    assert body["health"]["state"] == "degraded"
    assert body["uptime"] == {"24h": 0.5, "7d": 0.5, "90d": 0.5}
    known = 2 * (60 * 1.1 + 90 + 5)
    assert body["monitored"]["24h"] == pytest.approx(known / 86_400)
    assert body["monitored"]["7d"] == pytest.approx(known / 86_400 / 7)
    assert body["latency"] == {"p50Ms": 120, "p95Ms": 120, "probes": 2, "failures": 1}
    probes = [
        (probe["ok"], probe["latencyMs"], probe["error"]) for probe in body["recent"]
    ]
    assert probes == [(False, None, "HTTP 503"), (True, 120, "")]
    hours = [
        (hour["probes"], hour["failures"], hour["latencyMs"]) for hour in body["hours"]
    ]
    assert hours == [(1, 0, 120), (1, 1, None)]


def test_health_of_entry_never_probed_has_null_metrics(viewer_api):
    body = get_health(viewer_api, CatalogEntryFactory()).json()

    assert body["uptime"] == {"24h": None, "7d": None, "90d": None}
    assert body["monitored"] == {"24h": 0.0, "7d": 0.0, "90d": 0.0}
    assert body["latency"] == {"p50Ms": None, "p95Ms": None, "probes": 0, "failures": 0}
    assert (body["recent"], body["hours"]) == ([], [])


def test_health_lists_at_most_100_recent_probes(viewer_api):
    entry = CatalogEntryFactory()
    now = timezone.now()
    for n in range(120):
        record_probe(entry, success(n, now - timedelta(seconds=n)))
    recent = get_health(viewer_api, entry).json()["recent"]

    assert [probe["latencyMs"] for probe in recent] == list(range(100))


def test_health_rejects_unknown_entry_and_parameter(viewer_api):
    entry = CatalogEntryFactory()
    unknown_entry = viewer_api.get(f"{CATALOG_URL}/{entry.agent_type_id}/health")
    assert_error_response(unknown_entry, 404, "ENTRY_NOT_FOUND")
    unknown_parameter = viewer_api.get(f"{entry_url(entry, 'health')}?days=3")
    assert_error_response(unknown_parameter, 400, "INVALID_PARAMETER")
