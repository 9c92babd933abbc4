import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.features import AgentFeature
from capabilities.problems import Problems
from capabilities.protocols.mcp import MCPParser
from capabilities.protocols.mcp.parser import ROOT_MEMBERS
from capabilities.records import ProviderRecord

from .mcp_reading import ROOT, card, errors, features, offers, read, sample, warnings

CORPUS = ROOT / "../shared/protocols/samples"
HOME = "https://home.example"


# The shapes a definition comes in


def test_a_registry_entry_is_read():
    reading = read(sample("server"))

    record = reading.record
    assert reading.is_valid
    assert not reading.warnings
    assert record.protocol == "mcp"
    assert record.name == "Tide Tables"
    assert record.description == "High and low water for any harbour"
    assert record.version == "1.4.0"
    assert record.spec_version == "2025-12-11"
    assert record.provider is None


def test_a_registry_entry_lists_no_capabilities_but_what_it_says_of_itself():
    assert features(sample("server")) == {
        "identity.documentationUrl": "https://harbour.example/tides",
        "mcp.transports": ["sse", "stdio", "streamable-http"],
    }
    assert len(read(sample("server")).record.capabilities) == 2


def test_a_snake_case_registry_entry_is_read():
    reading = read(sample("server_2025_07_09"))

    assert not reading.warnings
    assert reading.record.endpoint == "https://harbour.example/pilot/mcp"
    assert reading.record.version == "0.9.2"
    assert reading.spec_version == "2025-07-09"
    assert features(sample("server_2025_07_09")) == {
        "identity.documentationUrl": "https://harbour.example/pilot",
        "mcp.transports": ["stdio", "streamable-http"],
    }


def test_a_prerelease_entry_is_read_though_its_package_has_no_transport():
    reading = read(sample("server_prerelease"))

    assert reading.is_valid
    assert not reading.warnings
    assert reading.record.endpoint == "mcp:example.harbour/berth-finder"
    assert reading.record.version == "0.0.3"
    assert reading.spec_version == ""
    assert reading.record.capabilities == ()


def test_the_envelope_of_the_registry_is_taken_off():
    record = read(sample("registry_envelope")).record

    assert record.name == "example.harbour/lock-keeper"
    assert record.endpoint == "https://harbour.example/locks"


def test_problems_inside_the_envelope_have_their_whole_path():
    document = {"server": {"tools": [{}], "sails": 2}, "_meta": {}}

    assert "$.server.tools[0].name" in errors(document)
    assert "$.server.name" in errors(document)
    assert "$.server.sails" in warnings(document)


def test_a_member_called_server_is_no_envelope_beside_others():
    record = read(card(server={"name": "other"})).record

    assert record.name == "desk"
    assert warnings(card(server={"name": "other"})) == ["$.server"]


def test_a_server_card_is_read_as_found_in_the_wild():
    reading = read(sample("server_card"))

    record = reading.record
    assert reading.is_valid
    assert record.endpoint == "https://desk.example/mcp"
    assert record.name == "Harbour Desk"
    assert record.version == "3.2.1"
    assert record.spec_version == "2025-06-18"
    assert record.provider == ProviderRecord(
        "Harbour Board", url="https://desk.example"
    )
    assert [each.name for each in record.capabilities[:3]] == [
        "book_berth",
        "call_tug",
        "harbour://chart",
    ]


def test_a_server_card_in_the_wild_is_told_its_oddities():
    assert warnings(sample("server_card")) == [
        "$.tags",
        "$.tools[0].inputSchema",
        "$.resources[0].name",
    ]


def test_a_card_of_sep_1649_has_the_version_of_its_server():
    record = read(sample("server_card_sep1649")).record

    assert record.name == "Ferry Clerk"
    assert record.version == "5.1.0"
    assert record.description == "Sells ferry tickets"


def test_dynamic_lists_are_a_warning_and_list_nothing():
    reading = read(sample("server_card_sep1649"))

    assert reading.is_valid
    assert [problem.path for problem in reading.warnings] == ["$.tools", "$.prompts"]
    assert offers(sample("server_card_sep1649"), "mcp.tool") == []


def test_an_introspected_server_is_read():
    reading = read(sample("introspection"))

    record = reading.record
    assert reading.is_valid
    assert not reading.warnings
    assert record.endpoint == "https://weather.example/mcp"
    assert record.name == "Weather Watch"
    assert record.version == "0.8.0"
    assert record.spec_version == "2025-11-25"
    assert record.description == "Prefer the marine forecast at sea."


def test_a_server_that_does_not_introduce_itself_is_read():
    reading = read({"url": "https://weather.example/mcp", "tools": []})

    assert reading.is_valid
    assert reading.record.name == ""
    assert reading.record.display_name == "https://weather.example/mcp"


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus ../shared/protocols/samples is not here"
)
def test_definitions_collected_elsewhere_are_read_and_others_are_left_alone():
    for path in CORPUS.glob("*/*.json"):
        document = json.loads(path.read_text())
        assert MCPParser().recognizes(document) == (path.parent.name == "mcp"), path
        if path.parent.name == "mcp":
            assert read(document).errors == [], path


# What it says about itself


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"title": "A", "serverInfo": {"title": "B"}, "name": "c"}, "A"),
        ({"serverInfo": {"title": "B", "name": "d"}, "name": "c"}, "B"),
        ({"serverInfo": {"name": "d"}, "name": "c"}, "c"),
        ({"serverInfo": {"name": "d"}, "title": " "}, "d"),
    ],
)
def test_the_title_is_shown_before_the_name(document, name):
    assert read(document).record.name == name


@pytest.mark.parametrize(
    ("members", "version"),
    [
        ({"version": "1", "version_detail": {"version": "2"}}, "1"),
        ({"version_detail": {"version": "2"}, "serverInfo": {"version": "3"}}, "2"),
        ({"serverInfo": {"version": "3"}}, "3"),
        ({"version": 1, "version_detail": []}, ""),
    ],
)
def test_the_version_may_stand_in_three_places(members, version):
    assert read(card(**members)).record.version == version


def test_a_placeholder_is_no_version():
    document = card(version="${VERSION}", serverInfo={"version": "3"})

    assert read(document).record.version == "3"
    assert warnings(document) == ["$.version"]


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
def test_the_revision_is_the_protocols_else_the_schemas(members, spec_version):
    assert read(card(**members)).spec_version == spec_version


def test_the_description_may_stand_in_the_server_info():
    document = card(serverInfo={"description": "Inside"}, instructions="Outside")

    assert read(document).record.description == "Inside"
    assert read(document | {"description": "x" * 500}).warnings == []


def test_instructions_too_long_for_a_description_are_a_warning():
    document = card(instructions="x" * 20_001)

    assert read(document).record.description == ""
    assert warnings(document) == ["$.instructions"]


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
def test_the_provider_is_named_in_many_ways(members, provider):
    assert read(card(**members)).record.provider == provider
    assert warnings(card(**members)) == []


def test_a_provider_nobody_can_use_is_a_warning():
    unnamed = card(provider={"url": "https://b.example"})
    unsafe = card(vendor={"name": "Board", "url": "javascript:alert(1)"})

    assert warnings(unnamed) == ["$.provider"]
    assert read(unnamed).record.provider is None
    assert warnings(unsafe) == ["$.vendor.url"]
    assert read(unsafe).record.provider == ProviderRecord("Board")


# What it supports


def test_flags_become_features():
    flags = {"tools": True, "resources": False, "prompts": {}, "tasks": {"list": {}}}

    assert features(card(capabilities=flags)) == {
        "tools.supported": True,
        "mcp.resources": False,
        "mcp.prompts": True,
        "mcp.tasks": True,
    }


def test_flags_inside_flags_become_features():
    assert features(sample("introspection")) == {
        "tools.supported": True,
        "mcp.tools.listChanged": True,
        "mcp.resources": True,
        "mcp.resources.listChanged": True,
        "mcp.resources.subscribe": False,
        "mcp.prompts": True,
        "mcp.completions": True,
    }


def test_what_is_not_said_is_no_feature():
    assert features(card(capabilities={"tools": None, "prompts": None})) == {}


@pytest.mark.parametrize("capabilities", [{}, {"tools": None}, {"tools": 5}, None, 5])
def test_listing_tools_says_that_there_are_some(capabilities):
    tools = [{"name": "x", "inputSchema": {}}]

    assert features(card(tools=tools, capabilities=capabilities)) == {
        "tools.supported": True
    }


def test_a_server_that_says_no_is_believed():
    tools = [{"name": "x", "inputSchema": {}}]

    assert features(card(tools=tools, capabilities={"tools": False})) == {
        "tools.supported": False
    }


def test_documentation_is_where_it_says():
    document = card(documentationUrl="https://d.example/docs")

    assert features(document) == {"identity.documentationUrl": "https://d.example/docs"}
    assert features(card(documentationUrl="javascript:1")) == {}


@pytest.mark.parametrize(
    "said",
    [
        {"websiteUrl": HOME},
        {"homepage": HOME},
        {"serverInfo": {"name": "desk", "websiteUrl": HOME}},
        {"websiteUrl": HOME, "homepage": "https://other.example"},
        {"documentationUrl": "javascript:1", "websiteUrl": HOME},
    ],
)
def test_without_documentation_one_reads_at_its_home(said):
    assert features(card(**said)) == {"identity.documentationUrl": HOME}


def test_a_feature_knows_its_place():
    (feature,) = offers(card(capabilities={"tools": False}), "agent.feature")

    assert feature == AgentFeature(name="tools.supported", value=False)
    assert feature.path == "$.capabilities.tools"


@pytest.mark.parametrize(
    ("flags", "path"),
    [
        (["tools"], "$.capabilities"),
        (True, "$.capabilities"),
        ({"tools": ["forecast"]}, "$.capabilities.tools"),
        ({"logging": "yes"}, "$.capabilities.logging"),
        ({"tools": {"listChanged": "yes"}}, "$.capabilities.tools.listChanged"),
    ],
)
def test_flags_that_are_none_are_warnings(flags, path):
    assert warnings(card(capabilities=flags)) == [path]


def test_members_nobody_knows_are_warnings():
    assert warnings(card(sails=2, icons=[], _meta={})) == ["$.sails"]


# Whatever else arrives

MEMBERS = st.sampled_from(
    sorted(
        ROOT_MEMBERS
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
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["dynamic", "https://{x}", "{x}", "http://[", "sse", "${V}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(MEMBERS | st.text(max_size=5), VALUES, max_size=8))
def test_no_document_makes_the_parser_fail(document):
    MCPParser().recognizes(document)
    reading = read(document)

    assert reading.is_valid == (not reading.errors)
    if reading.record and reading.is_valid:
        assert reading.record.endpoint.startswith(("http", "HTTP", "mcp:"))


@pytest.mark.parametrize("name", ["server_card", "introspection", "registry_envelope"])
def test_the_document_is_left_as_it_was(name):
    document = sample(name)
    before = copy.deepcopy(document)

    MCPParser().parse(document, Problems())

    assert document == before


def test_an_endless_address_is_refused_in_no_time():
    url = "https://a.example/" + "{a}" * 100_000

    assert errors({"name": "x", "url": url + " "}) == ["$.url"]
    assert MCPParser().recognizes({"$schema": "server" * 100_000}) is False
