"""Server cards in the shapes that sites publish, besides those of the drafts."""

import pytest

from capabilities.parsers import try_parse
from capabilities.protocols.mcp import MCPParser

from .mcp_documents import (
    DATA,
    get_error_paths,
    get_features,
    get_names,
    get_warning_paths,
    load_sample,
    parse_document,
)

CARDS = [
    (
        "card_transports",
        "https://lights.example/mcp",
        "2025-06-18",
        ["list_lights", "describe_buoy"],
    ),
    ("card_sse_url", "https://tides.example/sse", "", ["next_high_water"]),
    ("card_without_url", "mcp:knot-guide", "", ["show_knot", "find_knot"]),
    ("card_nested_server", "https://charts.example/mcp", "2025-11-25", ["open_chart"]),
    ("card_server_list", "https://board.example/mcp", "", ["book_berth"]),
    ("card_transport_endpoint", "https://pilots.example/mcp", "", ["order_pilot"]),
]
SERVER = {"name": "a", "url": "https://a.example/mcp", "transport": "http"}


@pytest.mark.parametrize(("name", "endpoint", "spec_version", "tools"), CARDS)
def test_published_card_shapes_are_read_t11(name, endpoint, spec_version, tools):
    result = try_parse((DATA / f"{name}.json").read_bytes())

    assert (result.protocol, result.errors) == ("mcp", [])
    assert result.record.endpoint == endpoint
    assert result.record.spec_version == spec_version
    assert get_names(load_sample(name), "mcp.tool") == tools


def test_transports_of_cards_become_a_feature():
    transports = {
        name: get_features(load_sample(name)).get("mcp.transports")
        for name, *_ in CARDS
    }

    assert transports == {
        "card_transports": ["stdio", "streamable-http"],
        "card_sse_url": ["sse"],
        "card_without_url": None,
        "card_nested_server": ["streamable-http"],
        "card_server_list": ["streamable-http"],
        "card_transport_endpoint": ["http"],
    }


def test_nested_server_supplies_what_the_card_lacks():
    nested = parse_document(load_sample("card_nested_server")).record
    listed = parse_document(load_sample("card_server_list")).record

    assert (nested.name, nested.version) == ("Chart Room", "4.0.0")
    assert (listed.name, listed.description) == ("Harbour Board", "Berths and tugs")
    assert get_features(load_sample("card_server_list"))["tools.supported"] is True


def test_members_that_card_and_nested_server_have_are_warnings_if_they_differ():
    document = {
        "name": "Board",
        "version": "1",
        "tools": [{"name": "x", "inputSchema": {}}],
        "server": {**SERVER, "version": "1", "tools": [], "harbour": True},
    }

    assert get_warning_paths(document) == [
        "$.server.name",
        "$.server.tools",
        "$.server.harbour",
    ]
    assert get_names(document, "mcp.tool") == ["x"]


def test_several_servers_in_one_document_are_an_error():
    document = {"name": "Board", "servers": [SERVER, {**SERVER, "name": "b"}]}
    result = parse_document(document)

    assert MCPParser().recognizes(document)
    assert [problem.path for problem in result.errors] == ["$.servers"]
    assert "lists 2 servers; register each of them separately" in str(result.errors)


def test_servers_in_a_registry_response_have_full_paths():
    document = {"server": {"name": "a.b/c", "servers": [SERVER, SERVER]}, "_meta": {}}

    assert get_error_paths(document) == ["$.server.servers"]


@pytest.mark.parametrize("key", ["url", "endpoint", "serverUrl"])
def test_named_document_with_mcp_url_is_recognized(key):
    assert MCPParser().recognizes({"name": "x", key: "https://x.example/mcp/"})


@pytest.mark.parametrize(
    "document",
    [
        {"name": "x", "url": "https://x.example", "tools": ["a"]},
        {"name": "x", "protocol_version": "2025-06-18"},
        {"name": "x", "transports": [{"type": "sse", "url": "https://x.example"}]},
        {"servers": [SERVER]},
        {"name": "x", "server": {"url": "https://x.example", "transport": "sse"}},
    ],
)
def test_card_in_other_shape_is_recognized(document):
    assert MCPParser().recognizes(document)


@pytest.mark.parametrize(
    "document",
    [
        {"name": "x", "url": "https://x.example/chat"},
        {"name": "x", "url": "https://x.example", "tools": ["a"], "model": "m"},
        {"name": "x", "url": "https://x.example", "tools": ["a"], "capabilities": []},
        {"name": "x", "tools": ["a"]},
        {"name": "x", "tools": [{"name": "a", "description": "b", "type": "function"}]},
        {"name": "x", "tools": [{"name": "a", "description": "b"}], "model": "m"},
        {
            "openapi": "3.1.0",
            "servers": [{"url": "https://x.example/mcp", "name": "x"}],
        },
        {"servers": [{"server": SERVER}], "metadata": {}},
        {"servers": {"x": {"url": "https://x.example/mcp", "type": "http"}}},
        {"name": "x", "server": {"type": "node", "entry_point": "index.js"}},
        {"identity": {"name": "x"}, "url": "https://x.example/sse"},
    ],
)
def test_document_with_similar_members_is_not_recognized(document):
    assert not MCPParser().recognizes(document)


def test_transports_in_an_object_are_read_t11():
    transports = {"http": {"url": "https://a.example/mcp"}, "stdio": "yes"}
    card = {"name": "A", "tools": ["b"], "transports": transports}

    assert parse_document(card).record.endpoint == "https://a.example/mcp"
    assert "$.transports.stdio" in get_warning_paths(card)
