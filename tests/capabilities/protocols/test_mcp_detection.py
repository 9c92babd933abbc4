import json

import pytest

from capabilities.protocols.mcp import MCPParser

from .mcp_documents import DATA


@pytest.mark.parametrize(
    "path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem
)
def test_every_mcp_sample_is_recognized(path):
    assert MCPParser().recognizes(json.loads(path.read_text()))


@pytest.mark.parametrize(
    "document",
    [
        {"serverInfo": {"name": "x"}},
        {"protocolVersion": "2026-07-28", "capabilities": {}, "tools": []},
        {"name": "x.y/z", "description": "d", "version": "1"},
        {"name": "x", "remotes": [{"type": "sse", "url": "/relative"}]},
        {"name": "x", "url": "https://x.example", "tools": [{"name": "a"}]},
        {"name": "x", "tools": [{"name": "a", "inputSchema": {}}]},
        {"name": "x", "resources": [{"name": "a", "uri": "a:b"}]},
        {"name": "x", "serverUrl": "https://x.example", "prompts": [{"name": "a"}]},
        {"name": "x", "url": "https://x.example", "capabilities": {"tools": True}},
        {"name": "x", "endpoint": "https://x.example", "transport": "streamable-http"},
        {"transport": {"type": "streamableHttp", "url": "https://x.example"}},
    ],
)
def test_minimal_server_is_recognized(document):
    assert MCPParser().recognizes(document)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"name": "x", "version": "1"},
        {"name": "@x/y", "version": "1", "description": "d", "main": "index.js"},
        {"name": "acme/y", "version": "1", "description": "d", "require": {}},
        {
            "schema_version": "1",
            "name": "x",
            "version": "1",
            "modules": [{"name": "a"}],
        },
        {"name": "x", "url": "https://x.example", "skills": [], "capabilities": {}},
        {
            "name": "x",
            "supportedInterfaces": [{"url": "https://x.example"}],
            "skills": [],
        },
        {"name": "x", "url": "https://x.example", "protocolVersion": "0.3.0"},
        {
            "identity": {"name": "x"},
            "transport": {"streaming": True},
            "tools": {"supported": True, "items": [{"name": "a"}]},
        },
        {"protocol": "agh-network/v0", "kind": "greet", "body": {"peer_card": {}}},
        {"peer_id": "x", "capabilities": ["a"]},
        {"mcpServers": {"x": {"url": "https://x.example"}}},
        {
            "name": "x",
            "url": "https://x.example",
            "resources": [{"name": "a", "path": "b"}],
        },
        {"packages": [{"name": "acme/y", "version": "1"}]},
        {"name": "x", "instructions": "do", "tools": [{"type": "function"}]},
        {"server": {"name": "x"}, "_meta": {}},
    ],
)
def test_other_document_is_not_recognized_as_mcp_document(document):
    assert not MCPParser().recognizes(document)
