"""Registering and refreshing AG-UI agents on the pages."""

import json

import pytest

from catalog.models import CatalogEntry
from catalog.registration.service import import_url
from tests.factories import UserFactory

from .declarations import serve_declaration

pytestmark = pytest.mark.django_db


def test_register_page_imports_agent_by_url(client, server):
    client.force_login(UserFactory(role="Editor"))
    form_data = {"url": server.url("/agent"), "protocol": "agui"}
    preview_page = client.post("/catalog/register", form_data)
    text = " ".join(preview_page.content.decode().split())
    client.post("/catalog/register", {"signed": preview_page.context["preview"].signed})

    entry = CatalogEntry.objects.get()
    assert entry.agent_type.endpoint == server.url("/agent")
    assert entry.status == "active"
    item = text.partition("transport.websocket")[2].partition("</li>")[0]
    assert 'class="feature-value unsupported"' in item


def test_register_page_accepts_definition_with_endpoint(client):
    client.force_login(UserFactory(role="Editor"))
    definition = json.dumps({"transport": {"streaming": True}})
    form_data = {"definition": definition, "endpoint": "https://a.example/agent"}
    preview_page = client.post("/catalog/register", form_data)
    client.post("/catalog/register", {"signed": preview_page.context["preview"].signed})

    assert CatalogEntry.objects.get().agent_type.endpoint == "https://a.example/agent"
    error_page = client.post(
        "/catalog/register", form_data | {"endpoint": "javascript:1"}
    )
    assert "The URL must" in error_page.content.decode()


def test_refresh_page_updates_the_same_entry(client, server):
    entry = import_url(server.url("/agent"), "agui").entry
    serve_declaration(server, tools=6)
    client.force_login(UserFactory(role="Editor"))
    url = f"/catalog/{entry.pk}/refresh"
    preview_page = client.post(url)
    client.post(url, {"signed": preview_page.context["preview"].signed})

    assert entry.changes.count() == 1
    assert CatalogEntry.objects.count() == 1
