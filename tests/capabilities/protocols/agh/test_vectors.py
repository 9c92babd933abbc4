import json
from pathlib import Path

import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.documents import CapabilityDocument

from .messages import PLACEHOLDER, ROOT, load_sample

VECTORS = {
    vector["name"]: vector for vector in load_sample("digest_vectors")["vectors"]
}
SHARED = Path(ROOT).parent / "shared/protocols/agh_digest_vectors.json"
for_each_vector = pytest.mark.parametrize("name", VECTORS)


def parse_vector(name):
    problems = Problems()
    document = CapabilityDocument.parse(VECTORS[name]["input"], problems)
    assert not problems.errors
    return document


def test_vector_file_has_thirteen_vectors():
    assert len(VECTORS) == 13


def test_vector_file_equals_the_shared_file():
    if not SHARED.exists():
        pytest.skip(f"{SHARED} does not exist")
    assert json.loads(SHARED.read_text()) == load_sample("digest_vectors")


@for_each_vector
def test_canonical_json_matches_vector(name):
    assert (
        parse_vector(name).canonical_json() == VECTORS[name]["canonical_json"].encode()
    )


@for_each_vector
def test_digest_matches_vector(name):
    assert parse_vector(name).compute_digest() == VECTORS[name]["digest"]


@for_each_vector
def test_document_with_its_digest_is_verified_after_round_trip(name):
    wire = parse_vector(name).to_wire()

    restored = CapabilityDocument.parse(wire, Problems())

    assert wire["digest"] == VECTORS[name]["digest"]
    assert restored.is_verified
    assert restored.canonical_json() == VECTORS[name]["canonical_json"].encode()


@pytest.mark.parametrize(
    "name", ["seed-example-catalog-entry", "seed-example-full-response"]
)
def test_placeholder_digest_is_not_verified(name):
    raw = VECTORS[name]["input"] | {"digest": PLACEHOLDER}

    assert not CapabilityDocument.parse(raw, Problems()).is_verified
