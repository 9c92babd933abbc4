"""Tests with random cards, with a2a-sdk and with collected real cards."""

import copy
import json

import pytest
from a2a.client.card_resolver import parse_agent_card
from hypothesis import assume, given
from hypothesis import strategies as st

from capabilities.protocols.a2a.features import FEATURE_NAMES_BY_FLAG
from capabilities.protocols.a2a.parser import (
    AGENT_CARD_MEMBERS,
    EXTENSION_MEMBERS,
    INTERFACE_MEMBERS,
    SKILL_MEMBERS,
)
from capabilities.protocols.a2a.security import (
    SCHEME_MEMBERS,
    SCHEME_TYPES_BY_WRAPPER,
    SIGNATURE_MEMBERS,
)

from .a2a_cards import ROOT, SAMPLE_NAMES, build_card, load_sample, parse_card

SAMPLES = ROOT.parent / "shared/protocols/samples/a2a"

INNER_MEMBERS = sorted(
    {
        *SKILL_MEMBERS,
        *INTERFACE_MEMBERS,
        *EXTENSION_MEMBERS,
        *SCHEME_MEMBERS,
        *SIGNATURE_MEMBERS,
        *SCHEME_TYPES_BY_WRAPPER,
        *FEATURE_NAMES_BY_FLAG,
        "extensions",
        "list",
        "organization",
        "protocolBinding",
        "schemes",
        "transport",
    }
)
plain_texts = st.text(max_size=20).filter(lambda text: "\0" not in text)
unusual_texts = st.text(st.characters(), max_size=20) | st.sampled_from(
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
    """Return a strategy for any JSON value, with the given texts and card members."""
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    keys = st.sampled_from(INNER_MEMBERS) | texts
    return st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda children: (
            st.lists(children, max_size=4) | st.dictionaries(keys, children, max_size=6)
        ),
        max_leaves=20,
    )


documents = st.dictionaries(
    st.sampled_from(sorted(AGENT_CARD_MEMBERS)) | unusual_texts,
    json_values(unusual_texts),
)

# Members of the right shape, so that most of these cards are valid.
values = json_values(plain_texts)
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
    {"protected": plain_texts | st.just("eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ")},
    optional={"header": values, "signature": values},
)
cards = st.fixed_dictionaries(
    {"skills": st.lists(skills, max_size=6)},
    optional={
        "supportedInterfaces": st.lists(interfaces, max_size=6),
        "securitySchemes": st.dictionaries(plain_texts, schemes, max_size=3),
        "signatures": st.lists(signatures, max_size=4),
        "capabilities": st.dictionaries(
            st.sampled_from(sorted(FEATURE_NAMES_BY_FLAG)), values
        ),
        "provider": values,
        "defaultOutputModes": values,
    },
).map(lambda members: build_card(**members))


@given(documents | cards)
def test_a2a_parser_handles_any_document(document):
    result = parse_card(document)

    assert result.is_valid or result.errors
    for problem in (*result.errors, *result.warnings):
        assert problem.path.startswith("$")
        assert f"{problem.path}: {problem.message}".encode()


@given(cards)
def test_capabilities_of_valid_card_survive_storage_round_trip(document):
    result = parse_card(document)
    assume(result.is_valid)

    capabilities = result.record.capabilities
    assert len(
        {(capability.kind, capability.name) for capability in capabilities}
    ) == len(capabilities)
    for capability in capabilities:
        stored = json.loads(json.dumps(capability.properties, allow_nan=False))
        assert (
            type(capability).from_stored(
                capability.name, capability.description, stored
            )
            == capability
        )
        assert not list(capability.validate())


# Comparison with a2a-sdk


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_sdk_parses_the_same_name_version_and_skills(name):
    sdk_card = parse_agent_card(copy.deepcopy(load_sample(name)))
    record = parse_card(load_sample(name)).record

    assert (record.name, record.version) == (sdk_card.name, sdk_card.version)
    assert [
        (capability.name, capability.tags)
        for capability in record.capabilities
        if capability.kind == "a2a.skill"
    ] == [(skill.name, list(skill.tags)) for skill in sdk_card.skills]


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_sdk_parses_the_same_interfaces_in_order(name):
    sdk_card = parse_agent_card(copy.deepcopy(load_sample(name)))
    record = parse_card(load_sample(name)).record

    assert [
        (interface.url, interface.binding)
        for interface in record.capabilities
        if interface.kind == "a2a.interface"
    ] == list(
        dict.fromkeys(
            (interface.url, interface.protocol_binding)
            for interface in sdk_card.supported_interfaces
        )
    )


# Collected cards, if the folder exists


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no sample cards in {SAMPLES}")
def test_collected_cards_are_valid_and_other_files_are_rejected():
    paths = sorted(SAMPLES.glob("*.json"))
    assert paths

    for path in paths:
        result = parse_card(json.loads(path.read_text()), protocol="")
        assert result.is_valid is not path.name.startswith("notcard_"), path.name
        assert result.is_valid or result.is_unknown_protocol
