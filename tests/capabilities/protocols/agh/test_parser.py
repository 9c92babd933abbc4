import json

import pytest

from capabilities.kinds import Kind
from capabilities.parsers import can_be_probed, connection_for, parsers, try_parse
from capabilities.problems import Problems
from capabilities.protocols.agh import AGHParser
from capabilities.protocols.agh.definitions import build_definition, read_definition
from capabilities.protocols.agh.records import KINDS, AGHCapability
from catalog.web.icons import ICONS

from .making import accepted, card, document, envelope, paths, read_card, sample, signed

BRIEF_KEY = "agh.capabilities_brief"


@pytest.fixture(autouse=True)
def _registered():
    with parsers.temporarily(AGHParser()):
        yield


def read(**members):
    return try_parse(json.dumps(card(**members)).encode())


def test_the_seed_s_card_is_an_agent():
    reading = try_parse(json.dumps(sample("peer_card")).encode())

    assert reading.is_valid
    assert not reading.warnings
    assert (reading.protocol, reading.spec_version) == ("agh", "agh-network/v0")
    record = reading.record
    assert record.endpoint == "agh:designer.session-19"
    assert record.name == "Designer"
    assert not can_be_probed(record.protocol, record.endpoint)
    assert record.capabilities == (
        AGHCapability(name="build-site", description="Build the landing page."),
        AGHCapability(name="review-copy", description="Review conversion copy."),
    )


def test_the_channel_kept_beside_the_card_is_in_the_endpoint():
    assert read(channel="builders").record.endpoint == "agh://builders/designer"
    assert read(channel=None).record.endpoint == "agh:designer"
    assert not read(channel="builders").warnings


@pytest.mark.parametrize("channel", ["", "A", "a/b", 5, "a" * 65])
def test_a_channel_of_another_form_is_an_error(channel):
    assert paths(read(channel=channel).errors) == ["$.channel"]


def test_without_a_display_name_it_goes_by_its_peer_id():
    assert read(display_name=" ").record.name == "designer"


def test_what_is_wrong_with_a_card_is_told():
    found = read(peer_id="A", artifacts_supported=None, ext=[]).errors

    assert paths(found) == ["$.peer_id", "$.artifacts_supported", "$.ext"]


def test_nobody_else_is_agentlens():
    assert paths(read(peer_id="agentlens").errors) == ["$.peer_id"]


def test_what_is_odd_about_a_card_is_told():
    found = read(
        capabilities=["a", "a", "task.write"],
        ext={BRIEF_KEY: 5, "agh.capability_catalog": {}},
        later=1,
    )

    assert found.valid
    assert [each.name for each in found.record.capabilities] == ["a", "task.write"]
    assert paths(found.warnings) == [
        "$.later",
        f"$.ext['{BRIEF_KEY}']",
        "$.ext['agh.capability_catalog']",
        "$.capabilities",
        "$.capabilities[1]",
    ]


@pytest.mark.parametrize("profiles", [[], ["agh-network/v9"]])
def test_the_profile_is_the_version_of_the_protocol(profiles):
    assert read(profiles_supported=profiles).spec_version == "".join(profiles)


@pytest.mark.parametrize(
    "document",
    [card(), card(peer_id=5), card(channel="x"), card(artifacts_supported=None)],
)
def test_a_card_is_recognised_however_faulty_and_by_nobody_else(document):
    found = [parser.slug for parser in parsers if parser.recognizes(document)]

    assert found == ["agh"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"name": "x", "capabilities": ["a"]},
        {"peer_id": "x", "capabilities": ["a"]},
        {"peer_id": "x", "profiles_supported": [], "capabilities": {}},
        {"profiles_supported": [], "capabilities": []},
        envelope(),
    ],
)
def test_other_documents_are_left_to_others(document):
    assert not AGHParser().recognizes(document)


def test_how_to_connect_is_a_whois_to_copy():
    raw = json.dumps(card(channel="builders")).encode()

    connection = connection_for(raw, "agh")

    assert [way.address for way in connection.endpoints] == ["agh://builders/designer"]
    request = json.loads(connection.snippet)
    taken = accepted(request, now=request["ts"])
    assert (taken.to, taken.channel) == ("designer", "builders")
    assert taken.ext == {"agh.include": ["capability_catalog"]}


def test_its_kind_is_discoverable_relied_on_and_has_an_icon():
    (kind,) = KINDS

    assert isinstance(kind, Kind)
    assert (kind.slug, kind.label) == ("agh.capability", "AGH Capability")
    assert kind.discoverable
    assert kind.removal_breaks_clients
    assert kind.icon in ICONS


def test_a_record_holds_the_whole_document_as_it_was_received():
    raw = signed(later=[1]) | {"summary": " Does a.\n", "version": ""}
    told = document(**raw)

    record = AGHCapability.from_document(told)

    assert (record.name, record.description) == ("a", "Does a.")
    text = record.properties["text"]
    assert record.properties == {
        "document": raw,
        "digest": told.compute_digest(),
        "verified": True,
        "text": text,
    }
    assert list(json.loads(text).items()) == list(raw.items())
    again = AGHCapability.from_stored(
        record.name, record.description, record.properties
    )
    assert again == record
    assert again.load_document() == told


def test_a_record_of_a_brief_holds_none():
    assert AGHCapability(name="a").load_document() is None
    assert AGHCapability(name="a").properties == {"verified": False}
    assert AGHCapability(name="a", document={"id": 5}).load_document() is None


def test_a_definition_is_the_card_as_it_came_with_its_channel():
    told = read_card(later=1, capabilities=[" a "])

    definition = build_definition(told, "builders")
    channel, again = read_definition(definition, Problems())

    assert definition == card(later=1, capabilities=[" a "], channel="builders")
    assert (channel, again) == ("builders", told)
    assert "channel" not in again.to_wire()
