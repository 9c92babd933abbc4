from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore

import pytest
from django.db import connections
from django.utils import timezone

from catalog.health.scheduler import CatalogEntryTargets
from catalog.models import CatalogEntry, Source, Status
from catalog.registration import service
from catalog.registration.service import claim_probe
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory

from .entries import entry_url

pytestmark = pytest.mark.django_db


def post_probe(client, entry):
    return client.post(entry_url(entry, "probe"))


def test_probe_returns_outcome_and_new_health(editor_api, running_entry):
    response = post_probe(editor_api, running_entry)

    assert response.status_code == 200
    body = response.json()
    assert body["outcome"].keys() == {"ok", "at", "latencyMs", "error"}
    assert (body["outcome"]["ok"], body["health"]["state"]) == (True, "active")
    assert CatalogEntry.objects.get().status == Status.ACTIVE


def test_capabilities_of_probed_agent_are_found_at_once(editor_api, running_entry):
    assert editor_api.get("/api/v1/capabilities").json()["total"] == 0
    post_probe(editor_api, running_entry)

    assert editor_api.get("/api/v1/capabilities").json()["total"] == 1


def test_second_probe_within_five_seconds_returns_429(editor_api, running_entry):
    post_probe(editor_api, running_entry)
    response = post_probe(editor_api, running_entry)

    assert_error_response(response, 429, "RATE_LIMITED")
    assert 1 <= int(response["Retry-After"]) <= 5


@pytest.mark.django_db(transaction=True)
def test_only_one_of_many_concurrent_probes_is_sent(api_client_for_role, running_entry):
    def probe_in_thread(client):
        try:
            return post_probe(client, running_entry)
        finally:
            connections.close_all()

    clients = [api_client_for_role("Editor") for _ in range(10)]
    with ThreadPoolExecutor(10) as executor:
        responses = list(executor.map(probe_in_thread, clients))

    statuses = Counter(response.status_code for response in responses)
    assert statuses == {200: 1, 429: 9}


def test_entry_claimed_for_probe_is_not_claimed_by_scheduler(running_entry):
    claim_probe(running_entry)

    assert CatalogEntryTargets().claim(10, due=timezone.now()) == []


def test_probe_returns_429_and_changes_nothing_if_all_fetch_slots_are_taken(
    editor_api, running_entry, monkeypatch
):
    slots = BoundedSemaphore(1)
    monkeypatch.setattr(service, "get_fetch_slots", lambda: slots)
    before = CatalogEntry.objects.values().get()
    with slots:
        response = post_probe(editor_api, running_entry)

    assert_error_response(response, 429, "RATE_LIMITED")
    assert response["Retry-After"] == "1"
    assert CatalogEntry.objects.values().get() == before
    assert post_probe(editor_api, running_entry).status_code == 200


@pytest.mark.parametrize("body", [b"{bad", b'{"timeout": 5}', b"[]"])
def test_probe_rejects_body(editor_api, running_entry, body):
    url = entry_url(running_entry, "probe")
    response = editor_api.generic("POST", url, body, content_type="application/json")

    assert_error_response(response, 400, "INVALID_BODY")


@pytest.mark.parametrize(
    "fields",
    [{"status": Status.DEPRECATED}, {"source": Source.DEMO}],
    ids=["deprecated", "demo"],
)
def test_probe_of_entry_that_is_never_probed_returns_409(editor_api, fields):
    response = post_probe(editor_api, CatalogEntryFactory(**fields))

    assert_error_response(response, 409, "CONFLICT")


def test_probe_by_viewer_returns_403(viewer_api, running_entry):
    response = post_probe(viewer_api, running_entry)

    assert_error_response(response, 403, "PERMISSION_DENIED")
