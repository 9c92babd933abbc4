import pytest
from django.urls import reverse

from catalog.models import Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, card_bytes
from tests.servers import LOOPBACK

pytestmark = pytest.mark.django_db


def post_probe(client, entry):
    url = reverse("catalog:entry_probe", args=[entry.pk])
    return client.post(url, follow=True)


def test_probe_by_editor_shows_response_time_and_updates_status(
    editor_client, running_entry
):
    html = post_probe(editor_client, running_entry).content.decode()

    assert "The agent responded in" in html
    running_entry.refresh_from_db()
    assert running_entry.status == Status.ACTIVE


def test_probe_of_unreachable_agent_shows_error(editor_client, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    entry = register(card_bytes(url="http://127.0.0.1:1/a2a")).entry
    html = post_probe(editor_client, entry).content.decode()

    assert (
        "The probe failed: The connection was refused or the host is unreachable."
    ) in html


def test_probe_of_deprecated_agent_says_that_it_cannot_be_probed(editor_client):
    entry = CatalogEntryFactory(status=Status.DEPRECATED)
    html = post_probe(editor_client, entry).content.decode()

    assert "This agent cannot be probed: it is deprecated, a demo agent, or" in html


def test_probe_from_page_by_viewer_returns_403(viewer_client, running_entry):
    assert post_probe(viewer_client, running_entry).status_code == 403
