import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from catalog import search
from catalog.health.probe import ProbeTarget, run_probe
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory

pytestmark = pytest.mark.django_db


def read_samples(client):
    """Return the values of all samples by name and labels."""
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain")
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.content.decode())
        for sample in family.samples
    }


def test_entries_are_counted_by_status_and_protocol(viewer_api):
    CatalogEntryFactory.create_batch(2)
    CatalogEntryFactory(status="offline", agent_type__protocol="mcp")
    samples = read_samples(viewer_api)

    def count(status, protocol):
        return samples["agentlens_entries", ("protocol", protocol), ("status", status)]

    assert (count("active", "a2a"), count("offline", "mcp")) == (2, 1)


def test_requests_are_counted_by_route_instead_of_path(viewer_api):
    labels = ("method", "GET"), ("route", "/api/v1/catalog/<pk>")
    key = ("agentlens_request_seconds_count", *labels, ("status", "200"))
    before = read_samples(viewer_api).get(key, 0)
    for entry in CatalogEntryFactory.create_batch(3):
        viewer_api.get(f"/api/v1/catalog/{entry.pk}")

    samples = read_samples(viewer_api)
    assert samples[key] - before == 3
    assert not any(str(entry.pk) in str(name) for name in samples)


def test_unknown_paths_and_methods_create_no_labels(viewer_api):
    viewer_api.generic("BREW", "/coffee/<pot>")

    assert not any(
        "coffee" in str(key) or "BREW" in str(key) for key in read_samples(viewer_api)
    )


def test_search_duration_is_recorded(viewer_api):
    before = read_samples(viewer_api).get(("agentlens_search_seconds_count",), 0)
    search.search_capabilities(search.SearchQuery(q="translate"), 10)

    assert read_samples(viewer_api)["agentlens_search_seconds_count",] - before == 1


def test_probe_outcomes_are_counted(viewer_api, settings):
    key = ("agentlens_probes_total", ("outcome", "failed"), ("protocol", "a2a"))
    before = read_samples(viewer_api).get(key, 0)
    asyncio.run(run_probe(ProbeTarget("a2a", "http://127.0.0.1:1/a2a")))

    assert read_samples(viewer_api)[key] - before == 1


def test_metrics_require_read_permission(api_client_for_role):
    assert_error_response(APIClient().get("/metrics"), 401, "NOT_AUTHENTICATED")
    assert_error_response(
        api_client_for_role(None).get("/metrics"), 403, "PERMISSION_DENIED"
    )
