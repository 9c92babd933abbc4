import pytest

from capabilities.problems import Problem
from capabilities.protocols.a2a import A2AParser
from capabilities.records import ProviderRecord

from .a2a_cards import (
    JSONRPC_INTERFACE,
    build_card,
    build_skill,
    build_v1_card,
    get_error_paths,
    get_warning_paths,
    load_sample,
    parse_card,
)

# Whole cards


def test_v0_2_card_is_parsed():
    result = parse_card(load_sample("v02_translator"))

    record = result.record
    assert result.is_valid
    assert not result.warnings
    assert record.protocol == "a2a"
    assert record.name == "Translator"
    assert record.description == "Turns documents from one language into another"
    assert record.version == "0.9.1"
    assert record.spec_version == result.spec_version == "0.2"
    assert record.endpoint == "http://translator.example.com:8080/"


def test_v0_3_card_is_parsed():
    record = parse_card(load_sample("v03_booking")).record

    assert record.spec_version == "0.3.0"
    assert record.endpoint == "https://booking.example.com/rpc"
    assert [capability.name for capability in record.capabilities] == [
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


def test_v1_0_card_is_parsed():
    record = parse_card(load_sample("v10_warehouse")).record

    assert record.spec_version == "1.0"
    assert record.version == "2.0.0"
    assert record.endpoint == "https://warehouse.example.net/a2a#tenant=north"
    assert [
        capability.name
        for capability in record.capabilities
        if capability.kind == "a2a.skill"
    ] == [
        "Find an item",
        "Move an item",
    ]


def test_card_of_two_revisions_is_parsed_as_the_newer():
    result = parse_card(load_sample("dual_forecast"))

    assert not result.warnings
    assert result.spec_version == "1.0"
    assert result.record.endpoint == "https://forecast.example.org/a2a/v1"
    assert [capability.kind for capability in result.record.capabilities] == [
        "a2a.skill",
        "a2a.interface",
        "a2a.interface",
        "a2a.security_scheme",
        *["agent.feature"] * 4,
    ]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("v03_booking", ["$.additionalInterfaces[2]", "$.additionalInterfaces[1]"]),
        ("v10_warehouse", ["$.supportedInterfaces[1]"]),
    ],
)
def test_standard_members_cause_no_warning(name, paths):
    """The warnings here are for a gRPC URL and for a second binding of one URL."""
    assert get_warning_paths(load_sample(name)) == paths


def test_deviations_of_real_card_are_warnings():
    result = parse_card(load_sample("nonstandard_recipes"))

    assert result.is_valid
    assert [problem.path for problem in result.warnings] == [
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


def test_minimal_card_has_no_warning():
    result = parse_card(build_card())

    assert result.is_valid
    assert not result.warnings


# Detection


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
def test_invalid_card_is_recognized(document):
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
def test_other_document_is_not_recognized_as_a2a_card(document):
    assert not A2AParser().recognizes(document)


def test_installer_file_is_named_in_the_error():
    result = parse_card(load_sample("notcard_installer"), protocol="")

    assert result.protocol == ""
    assert "is an OASF record" in result.errors[0].message


def test_newer_well_known_path_comes_first():
    assert A2AParser.well_known_paths == (
        "/.well-known/agent-card.json",
        "/.well-known/agent.json",
    )


# Revisions


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
        ({"supportedInterfaces": [JSONRPC_INTERFACE]}, "1.0"),
        ({"supportedInterfaces": [JSONRPC_INTERFACE], "protocolVersion": "0.3"}, "1.0"),
        (
            {
                "supportedInterfaces": [
                    JSONRPC_INTERFACE | {"protocolVersion": "0.3"},
                    JSONRPC_INTERFACE,
                ]
            },
            "0.3",
        ),
        (
            {"supportedInterfaces": [JSONRPC_INTERFACE | {"protocolVersion": None}]},
            "1.0",
        ),
    ],
)
def test_spec_version_is_derived_from_members(members, version):
    result = parse_card(build_card(**members))

    assert result.is_valid
    assert result.spec_version == version


def test_protocol_version_of_wrong_type_is_a_warning():
    result = parse_card(build_card(protocolVersion=0.3))

    assert result.spec_version == "0.3.0"
    assert result.warnings == [
        Problem("$.protocolVersion", "should be a string; ignored")
    ]


def test_interfaces_that_are_not_a_list_keep_v0_2():
    result = parse_card(
        build_card(supportedInterfaces={"url": "https://b.example.com/"})
    )

    assert result.spec_version == "0.2"
    assert result.record.endpoint == "https://desk.example.com/"
    assert [problem.path for problem in result.warnings] == ["$.supportedInterfaces"]


# Common members


@pytest.mark.parametrize("name", [None, "", "  ", 5, ["Desk"]])
def test_name_is_required(name):
    assert get_error_paths(build_card(name=name)) == ["$.name"]


@pytest.mark.parametrize("key", ["description", "version", "capabilities"])
def test_missing_description_version_or_capabilities_is_a_warning(key):
    document = build_card()
    del document[key]

    assert parse_card(document).is_valid
    assert (
        get_warning_paths(document)
        == get_warning_paths(build_card(**{key: None}))
        == [f"$.{key}"]
    )


def test_numeric_version_is_ignored_with_a_warning():
    result = parse_card(build_card(version=1.0))

    assert result.record.version == ""
    assert [problem.path for problem in result.warnings] == ["$.version"]


def test_texts_over_their_limit_are_errors_with_paths():
    document = build_card(name="n" * 301, description="d" * 20_001, version="v" * 256)

    assert get_error_paths(document) == ["$.name", "$.description", "$.version"]


def test_unknown_members_are_warnings_with_paths_at_every_level():
    document = build_v1_card(
        JSONRPC_INTERFACE | {"transport": "x"},
        skills=[build_skill(cost=1)],
        provider={"organization": "Example", "team": "x"},
        capabilities={"extensions": [{"uri": "urn:a", "since": 1}], "teleport": True},
        **{"unknown key": 1},
    )

    assert parse_card(document).is_valid
    assert sorted(get_warning_paths(document)) == [
        "$.capabilities.extensions[0].since",
        "$.capabilities.teleport",
        "$.provider.team",
        "$.skills[0].cost",
        "$.supportedInterfaces[0].transport",
        "$['unknown key']",
    ]


def test_all_errors_of_a_card_are_reported():
    document = {"name": "", "url": "javascript:alert(1)", "skills": [{}, 5]}

    assert get_error_paths(document) == [
        "$.url",
        "$.name",
        "$.skills[0].name",
        "$.skills[1]",
    ]


# Provider


def test_provider_has_organization_and_url():
    provider = parse_card(load_sample("v03_booking")).record.provider

    assert provider == ProviderRecord(
        "Example Travel", url="https://travel.example.com"
    )


@pytest.mark.parametrize("provider", [None, {}])
def test_provider_may_be_missing(provider):
    result = parse_card(build_card(provider=provider))

    assert result.record.provider is None
    assert not result.warnings


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("Example", "$.provider"),
        ({"url": "https://example.com/"}, "$.provider.organization"),
        ({"organization": "  "}, "$.provider.organization"),
    ],
)
def test_provider_without_organization_is_ignored_with_a_warning(provider, path):
    result = parse_card(build_card(provider=provider))

    assert result.record.provider is None
    assert [problem.path for problem in result.warnings] == [path]


def test_invalid_provider_url_is_ignored_with_a_warning():
    provider = {"organization": "Example", "url": "javascript:alert(1)"}
    result = parse_card(build_card(provider=provider))

    assert result.record.provider == ProviderRecord("Example", url="")
    assert [problem.path for problem in result.warnings] == ["$.provider.url"]
