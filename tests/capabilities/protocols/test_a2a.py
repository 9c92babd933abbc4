import pytest

from capabilities.problems import Problem
from capabilities.protocols.a2a import A2AParser
from capabilities.records import ProviderRecord

from .a2a_reading import (
    RPC,
    card,
    errors,
    features,
    offers,
    properties,
    read,
    sample,
    skill,
    v1_card,
    warnings,
)

# Whole cards


def test_a_card_of_revision_0_2_is_read():
    reading = read(sample("v02_translator"))

    record = reading.record
    assert reading.is_valid
    assert not reading.warnings
    assert record.protocol == "a2a"
    assert record.name == "Translator"
    assert record.description == "Turns documents from one language into another"
    assert record.version == "0.9.1"
    assert record.spec_version == reading.spec_version == "0.2"
    assert record.endpoint == "http://translator.example.com:8080/"


def test_a_card_of_revision_0_3_is_read():
    record = read(sample("v03_booking")).record

    assert record.spec_version == "0.3.0"
    assert record.endpoint == "https://booking.example.com/rpc"
    assert [each.name for each in record.capabilities] == [
        "Book a room",
        "Book a table",
        "https://booking.example.com/rpc",
        "https://booking.example.com/rpc#HTTP+JSON",
        "grpc.booking.example.com:443",
        "oauth2",
        "http",
        "https://example.org/ext/receipts/v1",
        "https://example.org/ext/tracing/v2",
        "ES256",
        "transport.streaming",
        "transport.pushNotifications",
        "a2a.extendedAgentCard",
        "identity.documentationUrl",
        "security.requirements",
        "output.supportedMimeTypes",
    ]


def test_a_card_of_revision_1_0_is_read():
    record = read(sample("v10_warehouse")).record

    assert record.spec_version == "1.0"
    assert record.version == "2.0.0"
    assert record.endpoint == "https://warehouse.example.net/a2a"
    assert [each.name for each in record.capabilities if each.kind == "a2a.skill"] == [
        "Find an item",
        "Move an item",
    ]


def test_a_dual_card_is_read_as_its_newer_half_and_nothing_counts_twice():
    reading = read(sample("dual_forecast"))

    assert not reading.warnings
    assert reading.spec_version == "1.0"
    assert reading.record.endpoint == "https://forecast.example.org/a2a/v1"
    assert [each.kind for each in reading.record.capabilities] == [
        "a2a.skill",
        "a2a.interface",
        "a2a.interface",
        "a2a.security_scheme",
        *["agent.feature"] * 4,
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("v03_booking", ["$.additionalInterfaces[2]", "$.additionalInterfaces[1]"]),
        ("v10_warehouse", ["$.supportedInterfaces[1]"]),
    ],
)
def test_nothing_that_a_revision_knows_is_odd(name, told):
    """What is told here are a gRPC target, and a second binding of one address."""
    assert warnings(sample(name)) == told


def test_the_oddities_of_the_wild_are_warnings_not_errors():
    reading = read(sample("wild_recipes"))

    assert reading.is_valid
    assert [problem.path for problem in reading.warnings] == [
        "$.authentication",
        "$.x-generator",
        "$.description",
        "$.defaultInputModes",
        "$.defaultOutputModes",
        "$.skills[0].price",
        "$.skills[0].tags",
        "$.skills[1].id",
        "$.skills[1].description",
        "$.skills[1].tags",
        "$.capabilities.batch",
    ]


def test_the_least_card_has_no_warning():
    reading = read(card())

    assert reading.is_valid
    assert not reading.warnings


# Telling a card from something else


@pytest.mark.parametrize(
    "document",
    [
        {"skills": [], "url": "https://a.example.com/"},
        {"skills": [], "protocolVersion": "0.3.0"},
        {"skills": "none", "preferredTransport": "GRPC"},
        {"supportedInterfaces": []},
        {"supportedInterfaces": None, "name": 5},
    ],
)
def test_a_card_is_recognised_however_faulty(document):
    assert A2AParser().recognizes(document)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"skills": []},
        {"name": "a", "url": "https://a.example.com/"},
        {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}},
        {"name": "a", "description": "b", "version": "1.0.0"},
    ],
)
def test_what_lacks_the_marks_of_a_card_is_none(document):
    assert not A2AParser().recognizes(document)


def test_a_file_that_only_wraps_a_card_is_refused_with_a_reason():
    reading = read(sample("notcard_installer"), protocol="")

    assert reading.protocol == ""
    assert "A2A (an agent card needs `skills`" in reading.errors[0].message


def test_cards_are_looked_for_under_the_new_name_first():
    assert A2AParser.well_known == (
        "/.well-known/agent-card.json",
        "/.well-known/agent.json",
    )


# Telling the revisions apart


@pytest.mark.parametrize(
    ("members", "version"),
    [
        ({}, "0.2"),
        ({"protocolVersion": "0.2.5"}, "0.2.5"),
        ({"protocolVersion": "0.3.0"}, "0.3.0"),
        ({"protocolVersion": ""}, "0.3.0"),
        ({"preferredTransport": "JSONRPC"}, "0.3.0"),
        ({"additionalInterfaces": []}, "0.3.0"),
        ({"signatures": []}, "0.3.0"),
        ({"signatures": None, "protocolVersion": None}, "0.2"),
        ({"supportedInterfaces": []}, "0.2"),
        ({"supportedInterfaces": [], "protocolVersion": "0.2.6"}, "0.2.6"),
        ({"supportedInterfaces": [RPC]}, "1.0"),
        ({"supportedInterfaces": [RPC], "protocolVersion": "0.3"}, "1.0"),
        ({"supportedInterfaces": [RPC | {"protocolVersion": "0.3"}, RPC]}, "0.3"),
        ({"supportedInterfaces": [RPC | {"protocolVersion": None}]}, "1.0"),
    ],
)
def test_the_revision_shows_in_what_a_card_has(members, version):
    reading = read(card(**members))

    assert reading.is_valid
    assert reading.spec_version == version


def test_a_protocol_version_that_is_no_text_is_a_warning():
    reading = read(card(protocolVersion=0.3))

    assert reading.spec_version == "0.3.0"
    assert reading.warnings == [
        Problem("$.protocolVersion", "should be a string; ignored")
    ]


def test_interfaces_that_are_no_list_do_not_make_a_card_newer():
    reading = read(card(supportedInterfaces={"url": "https://b.example.com/"}))

    assert reading.spec_version == "0.2"
    assert reading.record.endpoint == "https://desk.example.com/"
    assert [problem.path for problem in reading.warnings] == ["$.supportedInterfaces"]


# What every card says


@pytest.mark.parametrize("name", [None, "", "  ", 5, ["Desk"]])
def test_a_card_needs_a_name(name):
    assert errors(card(name=name)) == ["$.name"]


@pytest.mark.parametrize("key", ["description", "version", "capabilities"])
def test_members_that_a2a_requires_may_be_missing_with_a_warning(key):
    document = card()
    del document[key]

    assert read(document).valid
    assert warnings(document) == warnings(card(**{key: None})) == [f"$.{key}"]


def test_a_version_that_is_a_number_is_ignored_with_a_warning():
    reading = read(card(version=1.0))

    assert reading.record.version == ""
    assert [problem.path for problem in reading.warnings] == ["$.version"]


def test_texts_over_their_limit_are_errors_at_their_path():
    document = card(name="n" * 301, description="d" * 20_001, version="v" * 256)

    assert errors(document) == ["$.name", "$.description", "$.version"]


def test_unknown_members_are_told_with_their_path_wherever_they_stand():
    document = v1_card(
        RPC | {"transport": "x"},
        skills=[skill(cost=1)],
        provider={"organization": "Example", "team": "x"},
        capabilities={"extensions": [{"uri": "urn:a", "since": 1}], "teleport": True},
        **{"odd key": 1},
    )

    assert read(document).valid
    assert sorted(warnings(document)) == [
        "$.capabilities.extensions[0].since",
        "$.capabilities.teleport",
        "$.provider.team",
        "$.skills[0].cost",
        "$.supportedInterfaces[0].transport",
        "$['odd key']",
    ]


def test_every_fault_of_a_card_is_told():
    document = {"name": "", "url": "javascript:alert(1)", "skills": [{}, 5]}

    assert errors(document) == [
        "$.url",
        "$.name",
        "$.skills[0].name",
        "$.skills[1]",
    ]


# Provider


def test_the_provider_has_a_name_and_a_web_address():
    provider = read(sample("v03_booking")).record.provider

    assert provider == ProviderRecord(
        "Example Travel", url="https://travel.example.com"
    )


@pytest.mark.parametrize("provider", [None, {}])
def test_a_card_may_have_no_provider(provider):
    reading = read(card(provider=provider))

    assert reading.record.provider is None
    assert not reading.warnings


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("Example", "$.provider"),
        ({"url": "https://example.com/"}, "$.provider.organization"),
        ({"organization": "  "}, "$.provider.organization"),
    ],
)
def test_a_provider_without_a_name_is_ignored_with_a_warning(provider, path):
    reading = read(card(provider=provider))

    assert reading.record.provider is None
    assert [problem.path for problem in reading.warnings] == [path]


def test_a_provider_s_address_that_is_no_link_is_ignored_with_a_warning():
    stated = {"organization": "Example", "url": "javascript:alert(1)"}
    reading = read(card(provider=stated))

    assert reading.record.provider == ProviderRecord("Example", url="")
    assert [problem.path for problem in reading.warnings] == ["$.provider.url"]


# Extensions and features


def test_an_extension_is_named_by_its_uri():
    first, second = offers(sample("v03_booking"), "a2a.extension")

    assert first.description == "Signed receipts"
    assert first.properties == {
        "uri": "https://example.org/ext/receipts/v1",
        "required": True,
        "params": {"currency": "EUR"},
    }
    assert second.properties == {
        "uri": "https://example.org/ext/tracing/v2",
        "required": False,
    }


@pytest.mark.parametrize("extension", [{}, {"uri": " "}, {"uri": 5}])
def test_an_extension_without_a_uri_is_ignored_with_a_warning(extension):
    document = card(capabilities={"extensions": [extension, {"uri": "urn:a"}]})

    assert [each.name for each in offers(document, "a2a.extension")] == ["urn:a"]
    assert "$.capabilities.extensions[0]" in warnings(document)


def test_an_extension_is_required_only_when_it_says_so():
    document = card(capabilities={"extensions": [{"uri": "urn:a", "required": "no"}]})

    assert offers(document, "a2a.extension")[0].required is False
    assert warnings(document) == ["$.capabilities.extensions[0].required"]


def test_flags_are_features_true_or_false():
    assert features(sample("v02_translator")) == {
        "transport.streaming": True,
        "transport.pushNotifications": False,
        "a2a.stateTransitionHistory": True,
        "output.supportedMimeTypes": ["text/plain", "application/json"],
        "multimodal.input.pdf": True,
    }


def test_modes_of_the_card_and_of_any_skill_say_what_goes_in_and_comes_out():
    draw = {"name": "draw", "outputModes": ["image/png", "text", "*/*"]}
    hear = {"name": "hear", "inputModes": [" Audio/WAV", "video/*", "application/pdf"]}
    document = card(
        skills=[draw, hear],
        defaultInputModes=["image/jpeg"],
        defaultOutputModes=["text/plain; charset=utf-8", "image/png"],
    )

    assert features(document) == {
        "output.supportedMimeTypes": ["text/plain; charset=utf-8", "image/png"],
        "multimodal.input.image": True,
        "multimodal.input.audio": True,
        "multimodal.input.video": True,
        "multimodal.input.pdf": True,
        "multimodal.output.image": True,
    }


def test_documentation_is_where_the_card_says():
    told = features(card(documentationUrl="https://d.example/docs"))

    assert told["identity.documentationUrl"] == "https://d.example/docs"


@pytest.mark.parametrize("value", [True, False])
def test_the_extended_card_is_one_feature_in_either_spelling(value):
    older = card(supportsAuthenticatedExtendedCard=value)
    newer = card(capabilities={"extendedAgentCard": value})

    assert features(older)["a2a.extendedAgentCard"] is value
    assert features(older) == features(newer)


def test_the_newer_spelling_of_the_extended_card_wins():
    document = card(
        capabilities={"extendedAgentCard": False},
        supportsAuthenticatedExtendedCard=True,
    )

    assert features(document)["a2a.extendedAgentCard"] is False


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"capabilities": {"streaming": "yes"}}, "$.capabilities.streaming"),
        ({"capabilities": ["streaming"]}, "$.capabilities"),
        (
            {"supportsAuthenticatedExtendedCard": 1},
            "$.supportsAuthenticatedExtendedCard",
        ),
    ],
)
def test_a_flag_that_is_neither_true_nor_false_is_ignored_with_a_warning(members, path):
    assert features(card(**members)) == {"output.supportedMimeTypes": ["text/plain"]}
    assert warnings(card(**members)) == [path]


def test_a_card_that_declares_nothing_has_no_features():
    assert features(card(defaultOutputModes=[], security=[])) == {}


def test_default_modes_are_texts_wherever_they_are_shown():
    document = card(defaultOutputModes=["a/b", {"type": "c/d"}], skills=[skill()])

    assert features(document) == {"output.supportedMimeTypes": ["a/b"]}
    assert properties(document, "a2a.skill")[0]["output_modes"] == ["a/b"]
    assert warnings(document) == ["$.defaultOutputModes[1]"]
