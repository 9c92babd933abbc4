"""Cards at large: invented at random, read by others, and met in the world."""

import copy
import json

import pytest
from a2a.client.card_resolver import parse_agent_card
from hypothesis import assume, given
from hypothesis import strategies as st

from capabilities.protocols.a2a.features import FLAGS
from capabilities.protocols.a2a.parser import (
    CARD_MEMBERS,
    EXTENSION_MEMBERS,
    INTERFACE_MEMBERS,
    SKILL_MEMBERS,
)
from capabilities.protocols.a2a.security import (
    SCHEME_MEMBERS,
    SIGNATURE_MEMBERS,
    WRAPPERS,
)

from .a2a_reading import CARDS, ROOT, card, read, sample

SAMPLES = ROOT.parent / "shared/protocols/samples/a2a"

INNER_MEMBERS = sorted(
    {
        *SKILL_MEMBERS,
        *INTERFACE_MEMBERS,
        *EXTENSION_MEMBERS,
        *SCHEME_MEMBERS,
        *SIGNATURE_MEMBERS,
        *WRAPPERS,
        *FLAGS,
        "extensions",
        "list",
        "organization",
        "protocolBinding",
        "schemes",
        "transport",
    }
)
tame_texts = st.text(max_size=20).filter(lambda text: "\0" not in text)
wild_texts = st.text(st.characters(), max_size=20) | st.sampled_from(
    [
        "https://a.example.com/",
        "javascript:alert(1)",
        "grpc.example.com:443",
        "apiKey",
        "n" * 501,
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ",
        "eyJhbGciOiJhXHUwMDAwIn0",
    ]
)


def json_values(texts):
    """Anything JSON can say, in these texts and the words of a card."""
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    keys = st.sampled_from(INNER_MEMBERS) | texts
    return st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda inside: (
            st.lists(inside, max_size=4) | st.dictionaries(keys, inside, max_size=6)
        ),
        max_leaves=20,
    )


documents = st.dictionaries(
    st.sampled_from(sorted(CARD_MEMBERS)) | wild_texts, json_values(wild_texts)
)

# Members of the right shape, so that most of these cards are valid.
values = json_values(tame_texts)
names = st.sampled_from(["same", "other", "n" * 500])
urls = st.sampled_from(["https://a.example.com/", "https://b.example.com/" + "b" * 600])
skills = st.fixed_dictionaries(
    {"name": names}, optional={"id": names, "tags": values, "inputModes": values}
)
interfaces = st.fixed_dictionaries(
    {"url": urls},
    optional={"protocolBinding": names, "protocolVersion": values, "tenant": names},
)
schemes = st.fixed_dictionaries(
    {"type": st.sampled_from(["apiKey", "http", "oauth2"])},
    optional={"in": values, "key": values, "flows": values, "x": values},
)
signatures = st.fixed_dictionaries(
    {"protected": tame_texts | st.just("eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ")},
    optional={"header": values, "signature": values},
)
cards = st.fixed_dictionaries(
    {"skills": st.lists(skills, max_size=6)},
    optional={
        "supportedInterfaces": st.lists(interfaces, max_size=6),
        "securitySchemes": st.dictionaries(tame_texts, schemes, max_size=3),
        "signatures": st.lists(signatures, max_size=4),
        "capabilities": st.dictionaries(st.sampled_from(sorted(FLAGS)), values),
        "provider": values,
        "defaultOutputModes": values,
    },
).map(lambda members: card(**members))


@given(documents | cards)
def test_no_document_is_too_odd_to_be_examined(document):
    reading = read(document)

    assert reading.is_valid or reading.errors
    for problem in (*reading.errors, *reading.warnings):
        assert problem.path.startswith("$")
        assert f"{problem.path}: {problem.message}".encode()


@given(cards)
def test_what_a_valid_card_offers_can_be_stored_and_made_again(document):
    reading = read(document)
    assume(reading.is_valid)

    offered = reading.record.capabilities
    assert len({(each.kind, each.name) for each in offered}) == len(offered)
    for each in offered:
        stored = json.loads(json.dumps(each.properties, allow_nan=False))
        assert type(each).from_stored(each.name, each.description, stored) == each
        assert not list(each.validate())


# What a2a-sdk reads in the same cards


@pytest.mark.parametrize("name", CARDS)
def test_the_sdk_reads_the_same_in_a_card(name):
    theirs = parse_agent_card(copy.deepcopy(sample(name)))
    ours = read(sample(name)).record

    assert (ours.name, ours.version) == (theirs.name, theirs.version)
    assert [
        (each.name, each.tags) for each in ours.capabilities if each.kind == "a2a.skill"
    ] == [(each.name, list(each.tags)) for each in theirs.skills]


@pytest.mark.parametrize("name", CARDS)
def test_the_sdk_finds_the_same_interfaces_in_the_same_order(name):
    theirs = parse_agent_card(copy.deepcopy(sample(name)))
    ours = read(sample(name)).record

    assert [
        (each.url, each.binding)
        for each in ours.capabilities
        if each.kind == "a2a.interface"
    ] == list(
        dict.fromkeys(
            (each.url, each.protocol_binding) for each in theirs.supported_interfaces
        )
    )


# Cards from the world, where the folder is at hand


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no sample cards in {SAMPLES}")
def test_cards_from_the_world_are_valid_and_what_is_none_is_refused():
    paths = sorted(SAMPLES.glob("*.json"))
    assert paths

    for path in paths:
        reading = read(json.loads(path.read_text()), protocol="")
        assert reading.is_valid is not path.name.startswith("notcard_"), path.name
        assert reading.is_valid or "is not a definition" in reading.errors[0].message
