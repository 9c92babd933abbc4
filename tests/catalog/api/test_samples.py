"""Definitions of every kind go in, and come out byte for byte."""

from pathlib import Path

import pytest

from catalog.models import CatalogEntry

ROOT = Path(__file__).parents[3]
OWN = sorted((ROOT / "catalog/demo/definitions").glob("*.json"))
SHARED = ROOT.parent / "shared/protocols/samples"


def shared_samples(*protocols):
    found = [path for name in protocols for path in sorted(SHARED.glob(f"{name}/*"))]
    reason = "the shared samples are not beside the repository"
    absent = pytest.param(None, marks=pytest.mark.skip(reason))
    return [pytest.param(path, id=path.name) for path in found] or [absent]


def register(client, path):
    return client.generic(
        "POST",
        "/api/v1/catalog/register",
        path.read_bytes(),
        content_type="application/json",
    )


def assert_round_trip(client, path):
    made = register(client, path)
    assert made.status_code == 201, made.json()
    card = client.get(f"/api/v1/catalog/{made.json()['id']}/card")
    assert card.content == path.read_bytes()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_demo_definition_comes_out_as_it_went_in(editor, path):
    assert_round_trip(editor, path)


@pytest.mark.parametrize("path", shared_samples("a2a", "mcp"))
def test_a_sample_from_the_wild_comes_out_as_it_went_in(editor, path):
    if path.name.startswith("notcard"):
        refused = register(editor, path)
        assert refused.status_code == 422
        assert refused.json()["code"] == "PROTOCOL_NOT_DETECTED"
        assert (
            "an agent card needs" in refused.json()["details"]["errors"][0]["message"]
        )
        assert not CatalogEntry.objects.exists()
    else:
        assert_round_trip(editor, path)
