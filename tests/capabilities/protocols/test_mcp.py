import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.problems import Problems
from capabilities.protocols.mcp import MCPParser
from capabilities.protocols.mcp.parser import SERVER_MEMBERS
from capabilities.records import ProviderRecord

from .mcp_documents import (
    ROOT,
    build_server,
    get_capabilities,
    get_error_paths,
    get_features,
    get_warning_paths,
    load_sample,
    parse_document,
)

SAMPLES = ROOT / "../shared/protocols/samples"


# Forms of definition


def test_registry_entry_is_parsed():
    result = parse_document(load_sample("server"))

    record = result.record
    assert result.is_valid
    assert not result.warnings
    assert record.protocol == "mcp"
    assert record.name == "Tide Tables"
    assert record.description == "High and low water for any harbour"
    assert record.version == "1.4.0"
    assert record.spec_version == "2025-12-11"
    assert record.provider is None


def test_registry_entry_has_only_features():
    assert get_features(load_sample("server")) == {
        "identity.documentationUrl": "https://harbour.example/tides",
        "mcp.transports": ["sse", "stdio", "streamable-http"],
    }
    assert len(parse_document(load_sample("server")).record.capabilities) == 2


def test_snake_case_registry_entry_is_parsed():
    result = parse_document(load_sample("server_2025_07_09"))

    assert [problem.path for problem in result.warnings] == ["$.website_url"]
    assert result.record.endpoint == "https://harbour.example/pilot/mcp"
    assert result.record.version == "0.9.2"
    assert result.spec_version == "2025-07-09"
    assert get_features(load_sample("server_2025_07_09")) == {
        "identity.documentationUrl": "https://harbour.example/pilot",
        "mcp.transports": ["stdio", "streamable-http"],
    }


def test_prerelease_entry_without_package_transport_is_parsed():
    result = parse_document(load_sample("server_prerelease"))

    assert result.is_valid
    assert [problem.path for problem in result.warnings] == ["$.version_detail"]
    assert result.record.endpoint == "mcp:example.harbour/berth-finder"
    assert result.record.version == "0.0.3"
    assert result.spec_version == ""
    assert result.record.capabilities == ()


def test_registry_envelope_is_unwrapped():
    record = parse_document(load_sample("registry_envelope")).record

    assert record.name == "example.harbour/lock-keeper"
    assert record.endpoint == "https://harbour.example/locks"


def test_problems_inside_envelope_have_full_paths():
    document = {"server": {"tools": [{}], "sails": 2}, "_meta": {}}

    assert "$.server.tools[0].name" in get_error_paths(document)
    assert "$.server.name" in get_error_paths(document)
    assert "$.server.sails" in get_warning_paths(document)


def test_server_member_next_to_other_members_is_not_unwrapped():
    record = parse_document(build_server(server={"name": "other"})).record

    assert record.name == "desk"
    assert get_warning_paths(build_server(server={"name": "other"})) == ["$.server"]


def test_server_card_is_parsed():
    result = parse_document(load_sample("server_card"))

    record = result.record
    assert result.is_valid
    assert record.endpoint == "https://desk.example/mcp"
    assert record.name == "Harbour Desk"
    assert record.version == "3.2.1"
    assert record.spec_version == "2025-06-18"
    assert record.provider == ProviderRecord(
        "Harbour Board", url="https://desk.example"
    )
    assert [capability.name for capability in record.capabilities[:3]] == [
        "book_berth",
        "call_tug",
        "harbour://chart",
    ]


def test_server_card_deviations_are_warnings():
    assert get_warning_paths(load_sample("server_card")) == [
        "$.tags",
        "$.tools[0].inputSchema",
        "$.resources[0].name",
    ]


def test_sep_1649_card_has_version_of_server_info():
    record = parse_document(load_sample("server_card_sep1649")).record

    assert record.name == "Ferry Clerk"
    assert record.version == "5.1.0"
    assert record.description == "Sells ferry tickets"


def test_lists_declared_as_dynamic_are_empty_with_a_warning():
    result = parse_document(load_sample("server_card_sep1649"))

    assert result.is_valid
    assert [problem.path for problem in result.warnings] == ["$.tools", "$.prompts"]
    assert get_capabilities(load_sample("server_card_sep1649"), "mcp.tool") == []


def test_introspected_server_is_parsed():
    result = parse_document(load_sample("introspection"))

    record = result.record
    assert result.is_valid
    assert not result.warnings
    assert record.endpoint == "https://weather.example/mcp"
    assert record.name == "Weather Watch"
    assert record.version == "0.8.0"
    assert record.spec_version == "2025-11-25"
    assert record.description == "Prefer the marine forecast at sea."


def test_server_without_name_is_shown_under_its_url():
    result = parse_document({"url": "https://weather.example/mcp", "tools": []})

    assert result.is_valid
    assert result.record.name == ""
    assert result.record.display_name == "https://weather.example/mcp"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no samples in {SAMPLES}")
def test_collected_mcp_samples_are_valid_and_others_not_recognized():
    for path in SAMPLES.glob("*/*.json"):
        document = json.loads(path.read_text())
        assert MCPParser().recognizes(document) == (path.parent.name == "mcp"), path
        if path.parent.name == "mcp":
            assert parse_document(document).errors == [], path


# Members of the agent


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"title": "A", "serverInfo": {"title": "B"}, "name": "c"}, "A"),
        ({"serverInfo": {"title": "B", "name": "d"}, "name": "c"}, "B"),
        ({"serverInfo": {"name": "d"}, "name": "c"}, "c"),
        ({"serverInfo": {"name": "d"}, "title": " "}, "d"),
    ],
)
def test_name_prefers_title(document, name):
    assert parse_document(document).record.name == name


@pytest.mark.parametrize(
    ("members", "version"),
    [
        ({"version": "1", "version_detail": {"version": "2"}}, "1"),
        ({"version_detail": {"version": "2"}, "serverInfo": {"version": "3"}}, "2"),
        ({"serverInfo": {"version": "3"}}, "3"),
        ({"version": 1, "version_detail": []}, ""),
    ],
)
def test_version_is_read_from_three_members(members, version):
    assert parse_document(build_server(**members)).record.version == version


def test_version_placeholder_is_ignored():
    document = build_server(version="${VERSION}", serverInfo={"version": "3"})

    assert parse_document(document).record.version == "3"
    assert get_warning_paths(document) == ["$.version"]


@pytest.mark.parametrize(
    ("members", "spec_version"),
    [
        (
            {"protocolVersion": "2025-06-18", "$schema": "https://a/2025-12-11/b"},
            "2025-06-18",
        ),
        ({"$schema": "https://a.example/2025-12-11/server.schema.json"}, "2025-12-11"),
        ({"$schema": "https://a.example/v1/server-card.schema.json"}, ""),
        ({"$schema": 5, "protocolVersion": ["2025-06-18"]}, ""),
        ({}, ""),
    ],
)
def test_spec_version_prefers_protocol_version_over_schema(members, spec_version):
    assert parse_document(build_server(**members)).spec_version == spec_version


def test_description_is_read_from_server_info():
    document = build_server(
        serverInfo={"description": "Inside"}, instructions="Outside"
    )

    assert parse_document(document).record.description == "Inside"
    assert parse_document(document | {"description": "x" * 500}).warnings == []


def test_too_long_instructions_are_a_warning():
    document = build_server(instructions="x" * 20_001)

    assert parse_document(document).record.description == ""
    assert get_warning_paths(document) == ["$.instructions"]


@pytest.mark.parametrize(
    ("members", "provider"),
    [
        (
            {
                "provider": {
                    "organization": "Board",
                    "name": "No",
                    "url": "https://b.example",
                }
            },
            ProviderRecord("Board", url="https://b.example"),
        ),
        ({"provider": {"name": "Board"}, "vendor": "Other"}, ProviderRecord("Board")),
        ({"provider": "Board"}, ProviderRecord("Board")),
        (
            {"vendor": "Board", "homepage": "https://b.example"},
            ProviderRecord("Board", url="https://b.example"),
        ),
        ({"vendor": {"name": "Board"}}, ProviderRecord("Board")),
        ({"serverInfo": {"vendor": "Board"}}, ProviderRecord("Board")),
        ({"homepage": "https://b.example"}, None),
    ],
)
def test_provider_is_read_from_any_of_its_members(members, provider):
    assert parse_document(build_server(**members)).record.provider == provider
    assert get_warning_paths(build_server(**members)) == []


def test_invalid_provider_is_a_warning():
    unnamed = build_server(provider={"url": "https://b.example"})
    unsafe = build_server(vendor={"name": "Board", "url": "javascript:alert(1)"})

    assert get_warning_paths(unnamed) == ["$.provider"]
    assert parse_document(unnamed).record.provider is None
    assert get_warning_paths(unsafe) == ["$.vendor.url"]
    assert parse_document(unsafe).record.provider == ProviderRecord("Board")


# Random documents

member_names = st.sampled_from(
    sorted(
        SERVER_MEMBERS
        | {"server", "type", "transport_type", "organization", "arguments", "size"}
        | {
            "uri",
            "uriTemplate",
            "mimeType",
            "inputSchema",
            "annotations",
            "listChanged",
        }
    )
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["dynamic", "https://{x}", "{x}", "http://[", "sse", "${V}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(member_names, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(member_names | st.text(max_size=5), json_values, max_size=8))
def test_mcp_parser_handles_any_document(document):
    MCPParser().recognizes(document)
    result = parse_document(document)

    assert result.is_valid == (not result.errors)
    if result.record and result.is_valid:
        assert result.record.endpoint.startswith(("http", "HTTP", "mcp:"))


@pytest.mark.parametrize("name", ["server_card", "introspection", "registry_envelope"])
def test_mcp_parser_does_not_modify_the_document(name):
    document = load_sample(name)
    original = copy.deepcopy(document)

    MCPParser().parse(document, Problems())

    assert document == original


def test_very_long_url_is_rejected():
    url = "https://a.example/" + "{a}" * 100_000

    assert get_error_paths({"name": "x", "url": url + " "}) == ["$.url"]
    assert MCPParser().recognizes({"$schema": "server" * 100_000}) is False
