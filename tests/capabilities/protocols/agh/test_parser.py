import json

import pytest

from capabilities.kinds import Kind
from capabilities.parsers import can_be_probed, get_connection, parsers, try_parse
from capabilities.problems import Problems
from capabilities.protocols.agh import AGHParser
from capabilities.protocols.agh.definitions import build_definition, read_definition
from capabilities.protocols.agh.records import KINDS, AGHCapability
from catalog.web.icons import ICONS

from .messages import (
    build_card,
    build_document,
    build_received_envelope,
    build_verified_document,
    get_paths,
    load_sample,
    parse_card,
    parse_envelope,
)

BRIEF_KEY = "agh.capabilities_brief"


@pytest.fixture(autouse=True)
def _register_parser():
    with parsers.temporarily(AGHParser()):
        yield


def try_parse_card(**members):
    return try_parse(json.dumps(build_card(**members)).encode())


def test_sample_card_is_parsed():
    result = try_parse(json.dumps(load_sample("peer_card")).encode())

    assert result.is_valid
    assert not result.warnings
    assert (result.protocol, result.spec_version) == ("agh", "agh-network/v0")
    record = result.record
    assert record.endpoint == "agh:designer.session-19"
    assert record.name == "Designer"
    assert not can_be_probed(record.protocol, record.endpoint)
    assert record.capabilities == (
        AGHCapability(name="build-site", description="Build the landing page."),
        AGHCapability(name="review-copy", description="Review conversion copy."),
    )


def test_channel_is_part_of_the_endpoint():
    assert (
        try_parse_card(channel="builders").record.endpoint == "agh://builders/designer"
    )
    assert try_parse_card(channel=None).record.endpoint == "agh:designer"
    assert not try_parse_card(channel="builders").warnings


@pytest.mark.parametrize("channel", ["", "A", "a/b", 5, "a" * 65])
def test_invalid_channel_is_an_error(channel):
    assert get_paths(try_parse_card(channel=channel).errors) == ["$.channel"]


def test_name_falls_back_to_peer_id():
    assert try_parse_card(display_name=" ").record.name == "designer"


def test_errors_of_a_card_are_reported():
    errors = try_parse_card(peer_id="A", artifacts_supported=None, ext=[]).errors

    assert get_paths(errors) == ["$.peer_id", "$.artifacts_supported", "$.ext"]


def test_peer_id_agentlens_is_reserved():
    assert get_paths(try_parse_card(peer_id="agentlens").errors) == ["$.peer_id"]


def test_unknown_member_of_a_brief_is_a_warning():
    brief = {"id": "a", "summary": "Does a.", "cost": 5}
    result = try_parse_card(capabilities=["a"], ext={BRIEF_KEY: [brief]})

    assert get_paths(result.warnings) == [f"$.ext['{BRIEF_KEY}'][0].cost"]


def test_warnings_of_a_card_are_reported():
    result = try_parse_card(
        capabilities=["a", "a", "task.write"],
        ext={BRIEF_KEY: 5, "agh.capability_catalog": {}},
        later=1,
    )

    assert result.is_valid
    assert [capability.name for capability in result.record.capabilities] == [
        "a",
        "task.write",
    ]
    assert get_paths(result.warnings) == [
        "$.later",
        f"$.ext['{BRIEF_KEY}']",
        "$.ext['agh.capability_catalog']",
        "$.capabilities",
        "$.capabilities[1]",
    ]


@pytest.mark.parametrize("profiles", [[], ["agh-network/v9"]])
def test_spec_version_is_the_profile(profiles):
    assert try_parse_card(profiles_supported=profiles).spec_version == "".join(profiles)


@pytest.mark.parametrize(
    "document",
    [
        build_card(),
        build_card(peer_id=5),
        build_card(channel="x"),
        build_card(artifacts_supported=None),
    ],
)
def test_invalid_card_is_recognized_only_by_agh(document):
    slugs = [parser.slug for parser in parsers if parser.recognizes(document)]

    assert slugs == ["agh"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"name": "x", "capabilities": ["a"]},
        {"peer_id": "x", "capabilities": ["a"]},
        {"peer_id": "x", "profiles_supported": [], "capabilities": {}},
        {"profiles_supported": [], "capabilities": []},
        build_received_envelope(),
    ],
)
def test_other_document_is_not_recognized_as_peer_card(document):
    assert not AGHParser().recognizes(document)


def test_connection_snippet_is_a_valid_whois():
    raw = json.dumps(build_card(channel="builders")).encode()

    connection = get_connection(raw, "agh")

    assert [endpoint.address for endpoint in connection.endpoints] == [
        "agh://builders/designer"
    ]
    request = json.loads(connection.snippets[0].text)
    envelope = parse_envelope(request, now=request["ts"])
    assert (envelope.to, envelope.channel) == ("designer", "builders")
    assert envelope.ext == {"agh.include": ["capability_catalog"]}


def test_kind_is_discoverable_and_has_an_icon():
    (kind,) = KINDS

    assert isinstance(kind, Kind)
    assert (kind.slug, kind.label) == ("agh.capability", "AGH Capability")
    assert kind.discoverable
    assert kind.is_removal_breaking
    assert kind.icon in ICONS


def test_record_keeps_the_received_document():
    raw = build_verified_document(later=[1]) | {"summary": " Does a.\n", "version": ""}
    document = build_document(**raw)

    record = AGHCapability.from_document(document)

    assert (record.name, record.description) == ("a", "Does a.")
    text = record.properties["text"]
    assert record.properties == {
        "document": raw,
        "digest": document.compute_digest(),
        "verified": True,
        "text": text,
    }
    assert list(json.loads(text).items()) == list(raw.items())
    restored = AGHCapability.from_stored(
        record.name, record.description, record.properties
    )
    assert restored == record
    assert restored.load_document() == document


def test_record_without_document_loads_none():
    assert AGHCapability(name="a").load_document() is None
    assert AGHCapability(name="a").properties == {"verified": False}
    assert AGHCapability(name="a", document={"id": 5}).load_document() is None


def test_definition_is_the_original_card_with_its_channel():
    original = parse_card(later=1, capabilities=[" a "])

    definition = build_definition(original, "builders")
    channel, restored = read_definition(definition, Problems())

    assert definition == build_card(later=1, capabilities=[" a "], channel="builders")
    assert (channel, restored) == ("builders", original)
    assert "channel" not in restored.to_wire()
