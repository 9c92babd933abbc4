import ipaddress
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore

import pytest
from django.db import connections
from django.utils import timezone

from catalog.health.scheduler import CatalogEntrySource
from catalog.models import CatalogEntry, Source, Status
from catalog.registration import service
from catalog.registration.service import claim_probe, register
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, card_bytes
from tests.servers import reply, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(settings):
    """A registered agent whose card is where cards are kept."""
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    with serving() as server:
        server.routes["/.well-known/agent-card.json"] = reply()
        yield register(card_bytes(url=server.url("/a2a"))).entry


def in_thread(work):
    """On a connection of its own, closed when done."""

    def worked(*given):
        try:
            return work(*given)
        finally:
            connections.close_all()

    return worked


def probe(client, entry):
    return client.post(f"/api/v1/catalog/{entry.pk}/probe")


def test_it_answers_the_outcome_and_the_new_state(editor, agent):
    answer = probe(editor, agent)

    assert answer.status_code == 200
    body = answer.json()
    assert body["outcome"].keys() == {"ok", "at", "latencyMs", "error"}
    assert (body["outcome"]["ok"], body["health"]["state"]) == (True, "active")
    assert CatalogEntry.objects.get().status == Status.ACTIVE


def test_a_probed_agent_is_found_at_once(editor, agent):
    assert editor.get("/api/v1/capabilities").json()["total"] == 0
    probe(editor, agent)

    assert editor.get("/api/v1/capabilities").json()["total"] == 1


def test_asking_again_within_five_seconds_is_too_soon(editor, agent):
    probe(editor, agent)
    answer = probe(editor, agent)

    assert (answer.status_code, answer.json()["code"]) == (429, "RATE_LIMITED")
    assert 1 <= int(answer["Retry-After"]) <= 5


@pytest.mark.django_db(transaction=True)
def test_of_many_who_ask_at_once_one_is_answered(client_for, agent):
    clients = [client_for("Editor") for _ in range(10)]
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(in_thread(lambda c: probe(c, agent)), clients))

    statuses = Counter(answer.status_code for answer in answers)
    assert statuses == {200: 1, 429: 9}


def test_who_is_probed_now_is_nobody_elses_to_probe(editor, agent):
    """Neither while it is asked nor at once after it."""
    claim_probe(agent)

    assert CatalogEntrySource().claim(10, due=timezone.now()) == []


def test_when_too_many_wait_for_agents_the_next_is_told_to_come_back(
    editor, agent, monkeypatch
):
    slots = BoundedSemaphore(1)
    monkeypatch.setattr(service, "get_fetch_slots", lambda: slots)
    before = CatalogEntry.objects.values().get()
    with slots:
        answer = probe(editor, agent)

    assert_error_response(answer, 429, "RATE_LIMITED")
    assert answer["Retry-After"] == "1"
    assert CatalogEntry.objects.values().get() == before
    assert probe(editor, agent).status_code == 200


@pytest.mark.parametrize("body", [b"{bad", b'{"timeout": 5}', b"[]"])
def test_there_is_nothing_to_say_to_it(editor, agent, body):
    place = f"/api/v1/catalog/{agent.pk}/probe"
    answer = editor.generic("POST", place, body, content_type="application/json")

    assert_error_response(answer, 400, "INVALID_BODY")


@pytest.mark.parametrize(
    "left_alone", [{"status": Status.DEPRECATED}, {"source": Source.DEMO}]
)
def test_what_is_never_probed_is_a_conflict(editor, left_alone):
    answer = probe(editor, CatalogEntryFactory(**left_alone))

    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


def test_viewers_may_not(viewer, agent):
    assert probe(viewer, agent).status_code == 403
