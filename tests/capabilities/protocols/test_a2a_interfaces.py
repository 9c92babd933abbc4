import pytest

from capabilities.problems import Problem

from .a2a_reading import (
    RPC,
    card,
    errors,
    offers,
    properties,
    read,
    sample,
    v1_card,
    warnings,
)


def test_the_address_of_an_older_card_speaks_json_rpc_unless_it_says_otherwise():
    [plain] = properties(card(), "a2a.interface")
    [other] = properties(card(preferredTransport="GRPC"), "a2a.interface")

    assert plain == {
        "url": "https://desk.example.com/",
        "binding": "JSONRPC",
        "protocol_version": "",
    }
    assert other["binding"] == "GRPC"


def test_an_interface_stated_twice_is_one_interface():
    found = offers(sample("v03_booking"), "a2a.interface")

    assert [(each.url, each.binding) for each in found] == [
        ("https://booking.example.com/rpc", "JSONRPC"),
        ("https://booking.example.com/rpc", "HTTP+JSON"),
        ("grpc.booking.example.com:443", "GRPC"),
    ]


def test_interfaces_keep_their_order_and_the_first_is_the_endpoint():
    second, first = RPC | {"url": "https://b.example.com/"}, RPC
    document = v1_card(first, second, first)

    assert [each.name for each in offers(document, "a2a.interface")] == [
        "https://desk.example.com/rpc",
        "https://b.example.com/",
    ]
    assert read(document).record.endpoint == "https://desk.example.com/rpc"


def test_one_address_with_two_bindings_has_two_names():
    found = offers(v1_card(RPC, RPC | {"protocolBinding": "GRPC"}), "a2a.interface")

    assert [each.name for each in found] == [RPC["url"], f"{RPC['url']}#GRPC"]


def test_one_address_in_two_protocol_versions_is_two_interfaces():
    document = v1_card(*(RPC | {"protocolVersion": v} for v in ("1.0", "0.3", "0.2")))

    found = offers(document, "a2a.interface")
    assert [each.protocol_version for each in found] == ["1.0", "0.3", "0.2"]
    assert [each.name for each in found] == [
        RPC["url"],
        f"{RPC['url']}#JSONRPC",
        f"{RPC['url']} (2)",
    ]


def test_the_tenants_of_one_address_are_kept_apart():
    document = v1_card(RPC | {"tenant": "north"}, RPC | {"tenant": "south"}, RPC)

    tenants = [each.tenant for each in offers(document, "a2a.interface")]
    assert tenants == ["north", "south", None]
    assert "tenant" not in properties(document, "a2a.interface")[2]


def test_a_long_address_is_cut_in_its_name_and_whole_in_its_url():
    url = "https://desk.example.com/" + "a" * 600
    document = v1_card(*(RPC | {"url": url, "protocolBinding": b} for b in "ABC"))

    found = offers(document, "a2a.interface")
    assert {each.url for each in found} == {url}
    assert found[0].name == url[:499] + "…"
    assert len({each.name for each in found}) == 3
    assert read(document).record.endpoint == url


def test_an_interface_without_binding_or_version_is_read_with_a_warning():
    document = v1_card({"url": "https://desk.example.com/"})

    assert read(document).valid
    assert warnings(document) == [
        "$.supportedInterfaces[0].protocolBinding",
        "$.supportedInterfaces[0].protocolVersion",
    ]
    other = card(additionalInterfaces=[{"url": "https://b.example.com/"}])
    assert warnings(other) == ["$.additionalInterfaces[0].transport"]


def test_an_interface_needs_an_address():
    document = v1_card(RPC, {"protocolBinding": "GRPC", "protocolVersion": "1.0"})

    assert "$.supportedInterfaces[1].url" in errors(document)
    assert not warnings(document)


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
def test_an_endpoint_must_be_a_web_address(url):
    assert errors(card(url=url)) == ["$.url"]
    assert errors(v1_card(RPC | {"url": url})) == ["$.supportedInterfaces[0]"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "grpc.example.com:443"])
def test_beside_a_web_address_another_target_is_listed_but_is_no_endpoint(url):
    reading = read(v1_card(RPC | {"url": url}, RPC))

    assert reading.is_valid
    assert reading.record.endpoint == RPC["url"]
    assert [each.name for each in reading.record.capabilities[:2]] == [url, RPC["url"]]
    message = "url must be an http or https URL; shown, never opened"
    assert reading.warnings == [Problem("$.supportedInterfaces[0]", message)]


@pytest.mark.parametrize("url", ["", "  ", None])
def test_an_older_card_without_any_address_is_refused(url):
    [problem] = read(card(url=url)).errors

    assert problem.path == "$.url"
    assert "names no endpoint" in problem.message


@pytest.mark.parametrize("members", [{}, {"supportedInterfaces": []}])
def test_a_card_without_interfaces_is_refused(members):
    document = card(protocolVersion="0.3.0", **members)
    del document["url"]

    assert errors(document) == ["$.supportedInterfaces"]


def test_an_address_that_is_no_text_is_told_even_where_another_one_serves():
    others = [{"url": "https://b.example.com/", "transport": "GRPC"}]
    reading = read(card(url=5, additionalInterfaces=others))

    assert reading.record.endpoint == "https://b.example.com/"
    assert [problem.path for problem in reading.warnings] == ["$.url"]


def test_interfaces_that_are_no_objects_are_errors():
    assert errors(v1_card(RPC, "https://b.example.com/")) == [
        "$.supportedInterfaces[1]"
    ]
    assert errors(card(additionalInterfaces={})) == ["$.additionalInterfaces"]
