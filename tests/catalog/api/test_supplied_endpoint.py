"""The parameter `endpoint`, for definitions that do not contain it."""

import json

import pytest

from catalog.models import CatalogEntry
from tests.api_errors import assert_error_response
from tests.factories import card_bytes, skill

from .entries import REGISTER_URL, VALIDATE_URL

pytestmark = pytest.mark.django_db

ENDPOINT = "https://gateway.example/kagent/k8s"
QUERY = f"?endpoint={ENDPOINT}"
KAGENT_CARD = {"name": "k8s", "description": "Knows clusters", "skills": [skill()]}
DUMP = {"tools": [{"name": "dig", "description": "Digs"}]}
DECLARATION = {"transport": {"streaming": True}}
SERVER = {
    "name": "com.example/vault",
    "version": "1.0.0",
    "description": "Vault",
    "remotes": [{"type": "sse", "url": "https://vault.example/sse"}],
}


def post(client, url, document):
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return client.generic("POST", url, raw, content_type="application/json")


@pytest.mark.parametrize(
    ("document", "protocol"),
    [(KAGENT_CARD, "a2a"), (DUMP, "mcp"), (DECLARATION, "agui")],
)
def test_definition_without_url_is_registered_at_endpoint_t10(
    editor_api, document, protocol
):
    validated = post(editor_api, VALIDATE_URL + QUERY, document)
    registered = post(editor_api, REGISTER_URL + QUERY, document)

    assert validated.status_code == 200
    assert validated.json()["preview"]["endpoint"] == ENDPOINT
    assert registered.status_code == 201
    assert registered.json()["protocol"] == protocol
    assert CatalogEntry.objects.get().agent_type.endpoint == ENDPOINT
    again = post(editor_api, REGISTER_URL + QUERY, document)
    assert again.json()["outcome"] == "unchanged"


def test_two_agents_of_one_dump_are_two_entries(editor_api):
    for name in ("one", "two"):
        query = f"?endpoint=https://{name}.example/mcp"
        assert post(editor_api, REGISTER_URL + query, DUMP).status_code == 201

    assert CatalogEntry.objects.count() == 2


@pytest.mark.parametrize("url", [VALIDATE_URL, REGISTER_URL])
@pytest.mark.parametrize(
    "document",
    [
        card_bytes(),
        SERVER,
        {**DECLARATION, "url": "https://a.example/agent"},
        {"name": "reviewer", "capabilities": ["review"]},
    ],
)
def test_definition_with_url_takes_no_endpoint_t10(editor_api, url, document):
    response = post(editor_api, url + QUERY, document)

    assert_error_response(response, 400, "INVALID_PARAMETER")
    assert response.json()["details"]["parameter"] == "endpoint"


@pytest.mark.parametrize("url", [VALIDATE_URL, REGISTER_URL])
def test_unfilled_template_is_rejected_at_its_path_t5(editor_api, url):
    document = SERVER | {"name": "<<McpRepositoryName>>"}
    response = post(editor_api, url, document)

    body = response.json()
    errors = body["errors"] if url == VALIDATE_URL else body["details"]["errors"]
    assert response.status_code == 422
    assert [error["path"] for error in errors] == ["$.name"]


def test_answer_warns_of_replaced_agent_t5(editor_api):
    first = post(editor_api, REGISTER_URL, card_bytes(name="Artha"))
    body = card_bytes(name="Sage", skills=[skill("Advise")])
    second = post(editor_api, REGISTER_URL, body)

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json()["id"] == first.json()["id"]
    assert {"path": "$.name", "message": 'replaces "Artha"'} in second.json()[
        "warnings"
    ]
