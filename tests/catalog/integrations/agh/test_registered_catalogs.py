"""Capability catalogs that are registered by API or page instead of by folder."""

import json

import pytest

from catalog.models import CatalogEntry

from .envelopes import (
    build_catalog_request_ext,
    build_document,
    get_capabilities,
    get_catalog_ids,
    send_whois,
)

pytestmark = pytest.mark.django_db
REGISTER_URL = "/api/v1/catalog/register"


def build_catalog(*names, **members) -> dict:
    """Return the content of a `capabilities.json`, with a peer ID."""
    documents = [build_document(name) for name in names]
    for document in documents:
        del document["digest"]
    return {"peer_id": "designer", "capabilities": documents} | members


def post_catalog(client, catalog: dict):
    raw = json.dumps(catalog).encode()
    return client.generic("POST", REGISTER_URL, raw, content_type="application/json")


def get_error_paths(response) -> list[str]:
    assert response.status_code == 422, response.json()
    return [error["path"] for error in response.json()["details"]["errors"]]


def test_registered_catalog_is_peer_with_documents_t19(editor_api):
    catalog = build_catalog("build-site", "review-copy")
    response = post_catalog(editor_api, catalog)

    assert response.status_code == 201, response.json()
    assert response.json()["endpoint"] == "agh:designer"
    assert response.json()["status"] == "active"
    card = editor_api.get(f"/api/v1/catalog/{response.json()['id']}/card")
    assert card.content == json.dumps(catalog).encode()
    (whois,) = send_whois(to="designer", ext=build_catalog_request_ext())
    assert get_catalog_ids(whois) == ["build-site", "review-copy"]


def test_registered_catalog_replaces_documents(editor_api):
    post_catalog(editor_api, build_catalog("build-site", "review-copy"))
    response = post_catalog(editor_api, build_catalog("review-copy"))

    assert response.status_code == 200
    assert set(get_capabilities(channel="")) == {"review-copy"}


def test_page_of_registered_catalog_shows_documents(editor_api, viewer_client):
    entry_id = post_catalog(editor_api, build_catalog("build-site")).json()["id"]
    response = viewer_client.get(f"/catalog/{entry_id}")

    assert response.status_code == 200
    assert "build-site is done." in response.text


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"peer_id": "Not an ID"}, "$.peer_id"),
        ({"peer_id": "agentlens"}, "$.peer_id"),
        (
            {"capabilities": build_catalog("a", "a")["capabilities"]},
            "$.capabilities[1].id",
        ),
        ({"capabilities": [build_document("a")]}, "$.capabilities[0].digest"),
    ],
    ids=["malformed", "reserved", "duplicate", "digest"],
)
def test_invalid_catalog_is_rejected_with_path(editor_api, members, path):
    assert get_error_paths(post_catalog(editor_api, build_catalog("a", **members))) == [
        path
    ]
    assert not CatalogEntry.objects.exists()


def test_catalog_without_peer_id_is_rejected(editor_api):
    catalog = build_catalog("a")
    del catalog["peer_id"]

    assert get_error_paths(post_catalog(editor_api, catalog)) == ["$.peer_id"]
