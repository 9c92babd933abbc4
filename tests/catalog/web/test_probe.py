import ipaddress

import pytest
from django.urls import reverse

from catalog.models import Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes
from tests.servers import reply, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    with serving() as server:
        server.routes["/.well-known/agent-card.json"] = reply()
        yield register(card_bytes(url=server.url("/a2a"))).entry


def probe(client, entry, role):
    client.force_login(UserFactory(role=role))
    place = reverse("catalog:entry_probe", args=[entry.pk])
    return client.post(place, follow=True)


def test_an_editor_probes_and_sees_how_it_is(client, agent):
    page = probe(client, agent, "Editor").content.decode()

    assert "It answered in" in page
    agent.refresh_from_db()
    assert agent.status == Status.ACTIVE


def test_a_silent_agent_is_told_in_words(client, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    entry = register(card_bytes(url="http://127.0.0.1:1/a2a")).entry

    assert (
        "It did not answer: Connection refused"
        in probe(client, entry, "Editor").content.decode()
    )


def test_what_is_never_probed_says_so(client):
    entry = CatalogEntryFactory(status=Status.DEPRECATED)

    assert "never probed" in probe(client, entry, "Editor").content.decode()


def test_viewers_may_not(client, agent):
    assert probe(client, agent, "Viewer").status_code == 403
