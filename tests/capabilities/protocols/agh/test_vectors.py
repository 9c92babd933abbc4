import json
from pathlib import Path

import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.documents import CapabilityDocument

from .making import PLACEHOLDER, ROOT, sample

VECTORS = {each["name"]: each for each in sample("digest_vectors")["vectors"]}
SHARED = Path(ROOT).parent / "shared/protocols/agh_digest_vectors.json"
each_vector = pytest.mark.parametrize("name", VECTORS)


def read(name):
    problems = Problems()
    document = CapabilityDocument.parse(VECTORS[name]["input"], problems)
    assert not problems.errors
    return document


def test_there_are_thirteen_vectors():
    assert len(VECTORS) == 13


def test_our_vectors_are_the_shared_ones():
    if not SHARED.exists():
        pytest.skip(f"there is no {SHARED} to compare with")
    assert json.loads(SHARED.read_text()) == sample("digest_vectors")


@each_vector
def test_the_canonical_text_is_the_vector_s(name):
    assert read(name).canonical_json() == VECTORS[name]["canonical_json"].encode()


@each_vector
def test_the_digest_is_the_vector_s(name):
    assert read(name).compute_digest() == VECTORS[name]["digest"]


@each_vector
def test_a_document_with_its_digest_is_verified_and_stays_so_on_the_wire(name):
    wire = read(name).to_wire()

    again = CapabilityDocument.parse(wire, Problems())

    assert wire["digest"] == VECTORS[name]["digest"]
    assert again.is_verified
    assert again.canonical_json() == VECTORS[name]["canonical_json"].encode()


@pytest.mark.parametrize(
    "name", ["seed-example-catalog-entry", "seed-example-full-response"]
)
def test_the_digest_printed_in_the_seed_is_nobody_s(name):
    stated = VECTORS[name]["input"] | {"digest": PLACEHOLDER}

    assert not CapabilityDocument.parse(stated, Problems()).is_verified
