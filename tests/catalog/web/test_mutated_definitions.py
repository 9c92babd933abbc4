"""No definition breaks a page, however wrong it is."""

import json
from collections import Counter
from urllib.parse import quote

import pytest
from django.conf import settings

from capabilities.parsers import CONNECTION_ERROR
from tests.capabilities.protocols.mcp_connections import build_document
from tests.mutations import iter_mutated_definitions, load_definitions

pytestmark = pytest.mark.django_db

# Together 3,000 definitions.
CHUNKS = range(20)
CHUNK_SIZE = 150
# Each definition of this number is also compared and has its capabilities displayed.
SAMPLE_INTERVAL = 10
REGISTER_URL = "/api/v1/catalog/register"
# For definitions of AG-UI, which do not contain their URL.
ENDPOINT_URL = f"{REGISTER_URL}?endpoint=https://agent.example/run"
IS_POSTGRESQL = "postgresql" in settings.DATABASES["default"]["ENGINE"]


@pytest.fixture(scope="module")
def definitions():
    """Return definitions of all protocols; those of MCP have remotes and packages."""
    server = {"name": "io.example/weather", "description": "Weather"} | build_document()
    return [*load_definitions(), *[json.dumps(server).encode()] * 10]


@pytest.fixture
def editor_session(session_client_for_role, settings):
    """Return a client that may register definitions, as often as it wants."""
    settings.AGENTLENS_WRITE_RATE = 100_000
    return session_client_for_role("Editor")


def register_definition(client, raw: bytes, url: str) -> dict | None:
    """Register a definition by the API; return the entry, None if it is refused."""
    response = client.post(url, raw, content_type="application/json")
    assert response.status_code in (200, 201, 400, 413, 422), (raw, response.content)
    return response.json() if response.status_code < 400 else None


def check_entry(client, raw: bytes, entry_id: str) -> None:
    """Check that page and card of an entry are displayed."""
    page = client.get(f"/catalog/{entry_id}")
    assert page.status_code == 200, raw
    assert CONNECTION_ERROR not in page.content.decode(), raw
    card = client.get(f"/api/v1/catalog/{entry_id}/card")
    assert (card.status_code, card.content) == (200, raw)


def check_other_pages(client, raw: bytes, entry_ids: list[str]) -> None:
    """Check lists, comparison and capabilities that contain the latest entry."""
    entry = client.get(f"/api/v1/catalog/{entry_ids[-1]}").json()
    urls = ["/catalog", f"/api/v1/catalog/{entry_ids[-1]}/versions"]
    if len(entry_ids) > 1:
        urls.append(f"/catalog/compare?id={entry_ids[-2]}&id={entry_ids[-1]}")
    for capability in entry["capabilities"][:3]:
        if capability["kind"] != "agent.feature":
            key = quote(f"{capability['kind']}::{capability['name']}", safe="")
            urls.append(f"/catalog/capabilities/{key}")
    for url in urls:
        response = client.get(url)
        assert response.status_code in (200, 404), (url, raw)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_every_accepted_definition_has_a_page_t6(editor_session, definitions, chunk):
    if IS_POSTGRESQL and chunk > 0:
        pytest.skip("PostgreSQL runs one chunk; pages do not depend on the database")
    client, entry_ids, counts = editor_session, {}, Counter()
    for raw in iter_mutated_definitions(definitions, CHUNK_SIZE, f"chunk {chunk}"):
        url = ENDPOINT_URL if counts["refused"] % 2 else REGISTER_URL
        entry = register_definition(client, raw, url)
        if entry is None:
            counts["refused"] += 1
            continue
        counts["accepted"] += 1
        check_entry(client, raw, entry["id"])
        entry_ids[entry["id"]] = None
        if counts["accepted"] % SAMPLE_INTERVAL == 0:
            check_other_pages(client, raw, list(entry_ids))
    assert counts["accepted"] > CHUNK_SIZE / 5
    assert counts["refused"] > CHUNK_SIZE / 5
