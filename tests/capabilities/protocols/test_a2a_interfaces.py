import pytest

from capabilities.problems import Problem

from .a2a_cards import (
    JSONRPC_INTERFACE,
    build_card,
    build_v1_card,
    get_capabilities,
    get_error_paths,
    get_names,
    get_properties,
    get_warning_paths,
    load_sample,
    parse_card,
)


def test_v0_card_url_defaults_to_jsonrpc_binding():
    [default] = get_properties(build_card(), "a2a.interface")
    [declared] = get_properties(build_card(preferredTransport="GRPC"), "a2a.interface")

    assert default == {
        "url": "https://desk.example.com/",
        "binding": "JSONRPC",
        "protocol_version": "",
    }
    assert declared["binding"] == "GRPC"


def test_repeated_interface_is_listed_once():
    interfaces = get_capabilities(load_sample("v03_booking"), "a2a.interface")

    assert [(interface.url, interface.binding) for interface in interfaces] == [
        ("https://booking.example.com/rpc", "JSONRPC"),
        ("https://booking.example.com/rpc", "HTTP+JSON"),
        ("grpc.booking.example.com:443", "GRPC"),
    ]


def test_interfaces_keep_order_and_first_is_the_endpoint():
    second, first = (
        JSONRPC_INTERFACE | {"url": "https://b.example.com/"},
        JSONRPC_INTERFACE,
    )
    document = build_v1_card(first, second, first)

    assert get_names(document, "a2a.interface") == [
        "https://desk.example.com/rpc",
        "https://b.example.com/",
    ]
    assert parse_card(document).record.endpoint == "https://desk.example.com/rpc"


def test_interfaces_with_same_url_get_binding_in_name():
    interfaces = get_capabilities(
        build_v1_card(
            JSONRPC_INTERFACE, JSONRPC_INTERFACE | {"protocolBinding": "GRPC"}
        ),
        "a2a.interface",
    )

    assert [interface.name for interface in interfaces] == [
        JSONRPC_INTERFACE["url"],
        f"{JSONRPC_INTERFACE['url']}#GRPC",
    ]


def test_protocol_versions_of_one_url_are_separate_interfaces():
    document = build_v1_card(
        *(
            JSONRPC_INTERFACE | {"protocolVersion": version}
            for version in ("1.0", "0.3", "0.2")
        )
    )

    interfaces = get_capabilities(document, "a2a.interface")
    assert [interface.protocol_version for interface in interfaces] == [
        "1.0",
        "0.3",
        "0.2",
    ]
    assert [interface.name for interface in interfaces] == [
        JSONRPC_INTERFACE["url"],
        f"{JSONRPC_INTERFACE['url']}#JSONRPC",
        f"{JSONRPC_INTERFACE['url']} (2)",
    ]


def test_tenants_of_one_url_are_separate_interfaces():
    document = build_v1_card(
        JSONRPC_INTERFACE | {"tenant": "north"},
        JSONRPC_INTERFACE | {"tenant": "south"},
        JSONRPC_INTERFACE,
    )

    tenants = [
        interface.tenant for interface in get_capabilities(document, "a2a.interface")
    ]
    assert tenants == ["north", "south", None]
    assert "tenant" not in get_properties(document, "a2a.interface")[2]


def test_long_url_is_cut_in_interface_name_only():
    url = "https://desk.example.com/" + "a" * 600
    document = build_v1_card(
        *(
            JSONRPC_INTERFACE | {"url": url, "protocolBinding": binding}
            for binding in "ABC"
        )
    )

    interfaces = get_capabilities(document, "a2a.interface")
    assert {interface.url for interface in interfaces} == {url}
    assert interfaces[0].name == url[:499] + "…"
    assert len({interface.name for interface in interfaces}) == 3
    assert parse_card(document).record.endpoint == url


def test_interface_without_binding_or_version_is_a_warning():
    document = build_v1_card({"url": "https://desk.example.com/"})

    assert parse_card(document).is_valid
    assert get_warning_paths(document) == [
        "$.supportedInterfaces[0].protocolBinding",
        "$.supportedInterfaces[0].protocolVersion",
    ]
    older_document = build_card(
        additionalInterfaces=[{"url": "https://b.example.com/"}]
    )
    assert get_warning_paths(older_document) == ["$.additionalInterfaces[0].transport"]


def test_interface_url_is_required():
    document = build_v1_card(
        JSONRPC_INTERFACE, {"protocolBinding": "GRPC", "protocolVersion": "1.0"}
    )

    assert "$.supportedInterfaces[1].url" in get_error_paths(document)
    assert not get_warning_paths(document)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "grpc.example.com:443",
        "https://",
        "https://desk.example.com/a b",
        "https://desk.example.com/" + "a" * 2_000,
    ],
)
def test_endpoint_that_is_not_a_web_url_is_an_error(url):
    assert get_error_paths(build_card(url=url)) == ["$.url"]
    assert get_error_paths(build_v1_card(JSONRPC_INTERFACE | {"url": url})) == [
        "$.supportedInterfaces[0]"
    ]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "grpc.example.com:443"])
def test_other_url_is_listed_but_not_used_as_endpoint(url):
    result = parse_card(
        build_v1_card(JSONRPC_INTERFACE | {"url": url}, JSONRPC_INTERFACE)
    )

    assert result.is_valid
    assert result.record.endpoint == JSONRPC_INTERFACE["url"]
    assert [capability.name for capability in result.record.capabilities[:2]] == [
        url,
        JSONRPC_INTERFACE["url"],
    ]
    message = "url must be an http or https URL; listed, but not used"
    assert result.warnings == [Problem("$.supportedInterfaces[0]", message)]


@pytest.mark.parametrize("url", ["", "  ", None])
def test_v0_card_without_url_is_rejected(url):
    message = "must be an http or https URL, because the card has no other endpoint"
    assert parse_card(build_card(url=url)).errors == [Problem("$.url", message)]


@pytest.mark.parametrize("members", [{}, {"supportedInterfaces": []}])
def test_card_without_interfaces_is_rejected(members):
    document = build_card(protocolVersion="0.3.0", **members)
    del document["url"]

    message = (
        "must contain an interface with an http or https URL; cards of revisions before"
        " 1.0 must have `url` instead. If the card has no URL, supply it as the"
        " endpoint"
    )
    assert parse_card(document).errors == [Problem("$.supportedInterfaces", message)]


def test_url_of_wrong_type_is_a_warning():
    interfaces = [{"url": "https://b.example.com/", "transport": "GRPC"}]
    result = parse_card(build_card(url=5, additionalInterfaces=interfaces))

    assert result.record.endpoint == "https://b.example.com/"
    assert [problem.path for problem in result.warnings] == ["$.url"]


def test_interfaces_that_are_not_objects_are_errors():
    assert get_error_paths(
        build_v1_card(JSONRPC_INTERFACE, "https://b.example.com/")
    ) == ["$.supportedInterfaces[1]"]
    assert get_error_paths(build_card(additionalInterfaces={})) == [
        "$.additionalInterfaces"
    ]
