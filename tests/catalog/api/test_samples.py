"""Definitions of every protocol are returned byte for byte as registered."""

from pathlib import Path

import pytest

from catalog.models import CatalogEntry
from tests.api_errors import assert_error_response

from .entries import CATALOG_URL, REGISTER_URL

ROOT = Path(__file__).parents[3]
DEMO_DEFINITIONS = sorted((ROOT / "catalog/demo/definitions").glob("*.json"))
SAMPLES = ROOT.parent / "shared/protocols/samples"


def sample_params(*protocols):
    """Return the samples as parameters, or a skipped one if there are no samples."""
    paths = [
        path for protocol in protocols for path in sorted(SAMPLES.glob(f"{protocol}/*"))
    ]
    if not paths:
        reason = "The shared samples are not next to the repository"
        return [pytest.param(None, marks=pytest.mark.skip(reason))]
    return [pytest.param(path, id=path.name) for path in paths]


def post_file(client, path):
    return client.generic(
        "POST", REGISTER_URL, path.read_bytes(), content_type="application/json"
    )


def assert_round_trip(client, path):
    """Assert that a registered definition is returned unchanged."""
    response = post_file(client, path)
    assert response.status_code == 201, response.json()
    card = client.get(f"{CATALOG_URL}/{response.json()['id']}/card")
    assert card.content == path.read_bytes()


@pytest.mark.parametrize("path", DEMO_DEFINITIONS, ids=lambda path: path.name)
def test_demo_definition_is_returned_as_registered(editor_api, path):
    assert_round_trip(editor_api, path)


@pytest.mark.parametrize("path", sample_params("a2a", "mcp"))
def test_sample_definition_is_returned_as_registered(editor_api, path):
    # Samples with this prefix are other documents that look like cards.
    if not path.name.startswith("notcard"):
        assert_round_trip(editor_api, path)
        return
    response = post_file(editor_api, path)
    body = assert_error_response(response, 422, "PROTOCOL_NOT_DETECTED")
    assert "is an OASF record" in body["details"]["errors"][0]["message"]
    assert not CatalogEntry.objects.exists()
