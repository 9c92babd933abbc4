"""Which address identifies the agent of a card."""

import json

import pytest

from capabilities.connections import Endpoint
from capabilities.parsers import (
    can_be_probed,
    find_endpoint_error,
    get_connection,
    parsers,
    try_parse,
)
from capabilities.problems import Problem
from capabilities.protocols.a2a import A2AParser

from .a2a_cards import (
    JSONRPC_INTERFACE,
    build_card,
    build_v1_card,
    get_capabilities,
    get_record,
    parse_card,
)

CARD_URL = "https://desk.example.com/.well-known/agent-card.json"
URL = JSONRPC_INTERFACE["url"]


def parse_with(document, endpoint="", base_url=""):
    with parsers.temporarily(A2AParser()):
        return try_parse(json.dumps(document).encode(), "a2a", endpoint, base_url)


def build_grpc_card(url, binding="GRPC"):
    return build_v1_card({"url": url, "protocolBinding": binding})


def test_tenant_is_part_of_endpoint_t5():
    record = get_record(build_v1_card(JSONRPC_INTERFACE | {"tenant": "north"}))

    assert record.endpoint == f"{URL}#tenant=north"
    assert record.former_identities == (URL,)
    (interface,) = get_capabilities(
        build_v1_card(JSONRPC_INTERFACE | {"tenant": "north"}), "a2a.interface"
    )
    assert interface.url == URL


@pytest.mark.parametrize(
    ("tenant", "fragment"),
    [
        ("acme/north", "acme/north"),
        ("a b#c&d=e%", "a%20b%23c%26d%3De%25"),
        ("ü", "%C3%BC"),
    ],
)
def test_tenant_is_percent_encoded(tenant, fragment):
    record = get_record(build_v1_card(JSONRPC_INTERFACE | {"tenant": tenant}))

    assert record.endpoint == f"{URL}#tenant={fragment}"


def test_tenant_is_not_in_requests():
    card = build_v1_card(JSONRPC_INTERFACE | {"tenant": "north"}, protocolVersion="1.0")
    with parsers.temporarily(A2AParser()):
        connection = get_connection(json.dumps(card).encode(), "a2a")
        requests = A2AParser().health_requests(f"{URL}#tenant=north", "")

    assert connection.endpoints == [Endpoint(URL, "JSONRPC 1.0")]
    (snippet,) = connection.snippets
    assert URL in snippet.text
    assert "#tenant" not in snippet.text
    assert [request.url for request in requests] == [
        "https://desk.example.com/.well-known/agent-card.json",
        "https://desk.example.com/.well-known/agent.json",
    ]


@pytest.mark.parametrize(
    ("url", "binding"),
    [
        ("localhost:50051", "GRPC"),
        ("grpc://agents.example.com:9090", "GRPC"),
        ("grpc://agents.example.com:9090", "JSONRPC"),
        ("agents.example.com:443", "grpc"),
        ("[::1]:50051", "GRPC"),
        ("slim://org/agent", "https://slim.example/binding"),
    ],
)
def test_card_without_http_interface_is_valid_t10(url, binding):
    record = get_record(build_grpc_card(url, binding))

    assert record.endpoint == url
    assert not can_be_probed("a2a", record.endpoint)


def test_older_card_with_grpc_transport_is_valid():
    card = build_card(url="localhost:50051", preferredTransport="GRPC")

    assert get_record(card).endpoint == "localhost:50051"


def test_grpc_card_has_command_for_grpc():
    raw = json.dumps(build_grpc_card("localhost:50051")).encode()
    with parsers.temporarily(A2AParser()):
        connection = get_connection(raw, "a2a", "localhost:50051")

    (snippet,) = connection.snippets
    assert snippet.text.startswith("grpcurl -plaintext")


@pytest.mark.parametrize(
    ("url", "binding"),
    [
        ("localhost:50051", "JSONRPC"),
        ("tbd", "GRPC"),
        ("javascript:alert(1)", "GRPC"),
        ("http:///nohost", "GRPC"),
        ("grpc://with space", "GRPC"),
        ("ftp://agents.example.com", "JSONRPC"),
    ],
)
def test_address_of_no_binding_is_rejected(url, binding):
    errors = parse_card(build_grpc_card(url, binding)).errors

    assert [problem.path for problem in errors] == ["$.supportedInterfaces[0]"]


def test_http_interface_is_preferred_to_grpc():
    grpc = {"url": "localhost:50051", "protocolBinding": "GRPC"}

    assert get_record(build_v1_card(grpc, JSONRPC_INTERFACE)).endpoint == URL


@pytest.mark.parametrize("url", ["/a2a", "../a2a", "./../a2a"])
def test_relative_url_is_resolved_against_url_of_card_t10(url):
    result = parse_with(build_card(url=url), base_url=CARD_URL)

    assert not result.errors
    assert result.record.endpoint == "https://desk.example.com/a2a"


def test_relative_urls_of_interfaces_and_provider_are_resolved():
    card = build_v1_card(
        JSONRPC_INTERFACE | {"url": "/rpc"},
        provider={"organization": "Acme", "url": "/about"},
        documentationUrl="/docs",
    )
    record = parse_with(card, base_url=CARD_URL).record

    assert record.endpoint == "https://desk.example.com/rpc"
    assert record.provider.url == "https://desk.example.com/about"
    assert "https://desk.example.com/docs" in [
        capability.properties.get("value") for capability in record.capabilities
    ]


def test_relative_url_without_base_says_what_to_do():
    result = parse_with(build_card(url="/a2a"))

    assert result.errors == [
        Problem(
            "$.url",
            "is relative: import the definition by its URL, or supply the endpoint of"
            " the agent",
        )
    ]


@pytest.mark.parametrize("base_url", ["", CARD_URL])
@pytest.mark.parametrize("url", ["tbd", "n/a", "//[bad", "a2a"])
def test_text_that_is_no_url_is_not_resolved(url, base_url):
    assert parse_with(build_card(url=url), base_url=base_url).errors


def build_card_without_url(**members):
    card = build_card(**members)
    del card["url"]
    return card


@pytest.mark.parametrize(
    "card",
    [
        build_card_without_url(),
        build_card(url=""),
        build_card(url=None),
        build_card(url="/a2a"),
        build_v1_card({"protocolBinding": "JSONRPC"}),
        build_card_without_url(supportedInterfaces=[]),
    ],
)
def test_card_without_url_takes_supplied_endpoint_t10(card):
    raw = json.dumps(card).encode()
    with parsers.temporarily(A2AParser()):
        assert find_endpoint_error(raw) == ""
        result = try_parse(raw, "", "https://gateway.example/desk")

    assert (result.protocol, result.errors) == ("a2a", [])
    assert result.record.endpoint == "https://gateway.example/desk"


def test_card_with_url_takes_no_endpoint_t10():
    with parsers.temporarily(A2AParser()):
        error = find_endpoint_error(json.dumps(build_card()).encode())

    assert "contains the URL" in error


def test_supplied_endpoint_with_tenant_is_read_the_same_again():
    card = build_v1_card({"protocolBinding": "JSONRPC", "tenant": "north"})
    endpoint = parse_with(card, "https://gateway.example/desk").record.endpoint

    assert endpoint == "https://gateway.example/desk#tenant=north"
    assert parse_with(card, endpoint).record.endpoint == endpoint


@pytest.mark.parametrize(
    ("card", "path"),
    [
        (build_card(name="{{NAME}}"), "$.name"),
        (build_card(url="https://<HOST>/a2a"), "$.url"),
        (
            build_v1_card(JSONRPC_INTERFACE | {"url": "https://${HOST}/a2a"}),
            "$.supportedInterfaces[0].url",
        ),
    ],
)
def test_unfilled_template_is_rejected_t5(card, path):
    assert [problem.path for problem in parse_card(card).errors] == [path]


def test_unfilled_template_in_version_is_warning():
    result = parse_card(build_card(version="${VERSION}"))

    assert result.is_valid
    assert [problem.path for problem in result.warnings] == ["$.version"]
