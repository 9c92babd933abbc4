import ipaddress

import pytest

from catalog.intake import register
from catalog.models import CatalogEntry, Source, Status
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


@pytest.mark.parametrize(
    "left_alone", [{"status": Status.DEPRECATED}, {"source": Source.DEMO}]
)
def test_what_is_never_probed_is_a_conflict(editor, left_alone):
    answer = probe(editor, CatalogEntryFactory(**left_alone))

    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


def test_viewers_may_not(viewer, agent):
    assert probe(viewer, agent).status_code == 403
