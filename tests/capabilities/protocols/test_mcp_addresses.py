"""Which URL identifies an MCP server."""

import json

import pytest

from capabilities.parsers import find_endpoint_error, parsers, try_parse
from capabilities.protocols.mcp import MCPParser

LOOPBACK_URL = "http://localhost:3001/sse"


def build_server(*remotes, **members):
    document = {
        "name": "com.example/vault",
        "description": "Keeps things",
        "version": "1.0.0",
    }
    if not remotes and not members.keys() & {"url", "endpoint", "serverUrl"}:
        package = {"registryType": "npm", "identifier": "vault"}
        document["packages"] = [package | {"transport": {"type": "stdio"}}]
    if remotes:
        document["remotes"] = [{"type": "sse", "url": url} for url in remotes]
    return document | members


def parse_server(document, endpoint="", base_url=""):
    with parsers.temporarily(MCPParser()):
        return try_parse(json.dumps(document).encode(), "", endpoint, base_url)


@pytest.mark.parametrize(
    "url",
    [
        LOOPBACK_URL,
        "http://127.0.0.1:3001/sse",
        "http://[::1]/mcp",
        "http://0.0.0.0:8000/mcp",
    ],
)
def test_loopback_remote_does_not_identify_server_t5(url):
    result = parse_server(build_server(url))

    assert result.errors == []
    assert result.record.endpoint == "mcp:com.example/vault"
    assert result.record.former_identities == (url,)
    assert [problem.path for problem in result.warnings] == ["$.remotes[0].url"]


def test_public_remote_is_preferred_to_loopback_remote():
    url = "https://vault.example.com/mcp"
    record = parse_server(build_server(LOOPBACK_URL, url)).record

    assert record.endpoint == url
    assert record.former_identities == (LOOPBACK_URL,)


@pytest.mark.parametrize(
    "base_url",
    [
        LOOPBACK_URL,
        "http://localhost:3001/.well-known/mcp.json",
        "http://127.0.0.1:3001/server-card",
    ],
)
def test_loopback_remote_of_definition_from_there_is_kept(base_url):
    record = parse_server(build_server(LOOPBACK_URL), base_url=base_url).record

    assert (record.endpoint, record.former_identities) == (LOOPBACK_URL, ())


@pytest.mark.parametrize(
    "base_url", ["https://raw.example.com/server.json", "http://127.0.0.1:8080/x"]
)
def test_loopback_remote_of_definition_from_elsewhere_is_not_kept(base_url):
    record = parse_server(build_server(LOOPBACK_URL), base_url=base_url).record

    assert record.endpoint == "mcp:com.example/vault"


@pytest.mark.parametrize(
    "members",
    [
        {"transports": [{"type": "sse", "url": LOOPBACK_URL}]},
        {"transports": {"sse": {"url": LOOPBACK_URL}}},
        {"sse_url": LOOPBACK_URL},
    ],
    ids=["list", "object", "sse_url"],
)
def test_loopback_transport_of_card_does_not_identify_server_t5(members):
    card = {"name": "Vault", "version": "1", "tools": ["dig"], **members}
    result = parse_server(card)

    assert (result.errors, result.record.endpoint) == ([], "mcp:Vault")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://{tenant}.example.com/mcp", False),
        ("https://example.com/{tenant}/mcp", False),
        ("https://example.com/mcp", True),
    ],
)
def test_url_with_variables_cannot_be_probed(url, expected):
    assert MCPParser().can_be_probed(url) is expected


def test_former_loopback_endpoint_is_not_taken_for_supplied_one():
    record = parse_server(build_server(LOOPBACK_URL), LOOPBACK_URL).record

    assert record.endpoint == "mcp:com.example/vault"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (build_server(name="<<McpRepositoryName>>"), "$.name"),
        (build_server(name="<<McpRepositoryName>>", title="Vault"), "$.name"),
        (build_server("https://<LOOKER_URL>/mcp"), "$.remotes[0].url"),
        (build_server(url="https://{{HOST}}/mcp"), "$.url"),
        (build_server(title="{{TITLE}}"), "$.name"),
        (
            {"server": build_server(name="${NAME}", title="Vault")},
            "$.server.name",
        ),
    ],
)
def test_unfilled_template_is_rejected_t5(document, path):
    assert [problem.path for problem in parse_server(document).errors] == [path]


def test_variable_of_url_is_no_template():
    url = "https://{tenant}.example.com/mcp"

    assert parse_server(build_server(url)).record.endpoint == url


def test_template_in_version_is_warning():
    result = parse_server(build_server(version="${VERSION}"))

    assert result.is_valid
    assert [problem.path for problem in result.warnings] == ["$.version"]


def test_template_in_url_of_package_is_allowed():
    transport = {"type": "streamable-http", "url": "http://localhost:${PORT}/mcp"}
    package = {"registryType": "npm", "identifier": "vault", "transport": transport}

    assert parse_server(build_server(packages=[package])).is_valid


@pytest.mark.parametrize("key", ["url", "endpoint", "serverUrl"])
def test_relative_url_is_resolved_against_url_of_card_t10(key):
    card = build_server(**{key: "/mcp"})
    base_url = "https://vault.example.com/.well-known/mcp.json"

    assert parse_server(card, base_url=base_url).record.endpoint == (
        "https://vault.example.com/mcp"
    )
    (error,) = parse_server(card).errors
    assert error.path == f"$.{key}"
    assert "import the definition by its URL" in error.message


@pytest.mark.parametrize(
    "document",
    [
        {"tools": [{"name": "dig"}]},
        {"tools": [{"name": "dig", "inputSchema": {}}]},
        build_server(),
        build_server(LOOPBACK_URL),
        build_server(url="/mcp"),
        build_server(endpoint="/mcp"),
        {"server": build_server(), "_meta": {}},
    ],
)
def test_definition_without_url_takes_supplied_endpoint_t10(document):
    endpoint = "https://vault.example.com/mcp"
    with parsers.temporarily(MCPParser()):
        assert find_endpoint_error(json.dumps(document).encode()) == ""
    result = parse_server(document, endpoint)

    assert (result.protocol, result.errors) == ("mcp", [])
    assert result.record.endpoint == endpoint
    assert parse_server(document, result.record.endpoint).record == result.record


def test_definition_with_remote_takes_no_endpoint_t10():
    raw = json.dumps(build_server("https://vault.example.com/mcp")).encode()
    with parsers.temporarily(MCPParser()):
        assert "contains the URL" in find_endpoint_error(raw)


def test_stored_endpoint_does_not_hide_changed_url():
    card = build_server(endpoint="https://vault.example.com/new")
    record = parse_server(card, "https://vault.example.com/old").record

    assert record.endpoint == "https://vault.example.com/new"
