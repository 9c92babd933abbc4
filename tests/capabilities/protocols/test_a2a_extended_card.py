"""The requests for extended cards, which follow from the public card."""

import pytest

from capabilities.protocols.a2a import build_extended_card_request

from .a2a_cards import build_card, build_v1_card

URL = "https://agent.example/a2a"
DECLARED = {"extendedAgentCard": True}


def describe(card):
    """Return method, URL, JSON-RPC method and version header of the request."""
    request = build_extended_card_request(card)
    if request is None:
        return None
    rpc_method = (request.body or {}).get("method")
    return request.method, request.url, rpc_method, request.headers.get("A2A-Version")


def build_interface(binding, version="1.0", **members):
    members = {"url": URL, "protocolBinding": binding} | members
    return {**members, "protocolVersion": version}


@pytest.mark.parametrize(
    ("interfaces", "expected"),
    [
        (
            [build_interface("JSONRPC")],
            ("POST", URL, "GetExtendedAgentCard", "1.0"),
        ),
        (
            [build_interface("HTTP+JSON", url=f"{URL}/")],
            ("GET", f"{URL}/extendedAgentCard", None, "1.0"),
        ),
        (
            [build_interface("HTTP+JSON", url=f"{URL}/?x=1#part", tenant="a")],
            ("GET", f"{URL}/a/extendedAgentCard?x=1", None, "1.0"),
        ),
        (
            [build_interface("HTTP+JSON", tenant="a/b")],
            ("GET", f"{URL}/a%2Fb/extendedAgentCard", None, "1.0"),
        ),
        (
            [build_interface("JSONRPC", "0.3")],
            ("POST", URL, "agent/getAuthenticatedExtendedCard", None),
        ),
        (
            [build_interface("HTTP+JSON", "0.3")],
            ("GET", f"{URL}/v1/card", None, None),
        ),
        (
            [
                build_interface("GRPC", url="agent.example:443"),
                build_interface("JSONRPC"),
            ],
            ("POST", URL, "GetExtendedAgentCard", "1.0"),
        ),
        ([build_interface("GRPC")], None),
        ([5, {"url": 5}, {}], None),
    ],
)
def test_request_follows_first_http_interface(interfaces, expected):
    card = build_v1_card(*interfaces, capabilities=DECLARED)

    assert describe(card) == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"protocolVersion": "0.3.0"},
            ("POST", URL, "agent/getAuthenticatedExtendedCard", None),
        ),
        (
            {"protocolVersion": "0.3.0", "preferredTransport": "HTTP+JSON"},
            ("GET", f"{URL}/v1/card", None, None),
        ),
        (
            {
                "protocolVersion": "0.3.0",
                "preferredTransport": "GRPC",
                "additionalInterfaces": [
                    {"url": f"{URL}/rest", "transport": "HTTP+JSON"}
                ],
            },
            ("GET", f"{URL}/rest/v1/card", None, None),
        ),
        (
            {"protocolVersion": "0.2.6"},
            (
                "GET",
                "https://agent.example/agent/authenticatedExtendedCard",
                None,
                None,
            ),
        ),
        ({"additionalInterfaces": 5, "url": "javascript:alert(1)"}, None),
    ],
)
def test_request_of_older_revisions(members, expected):
    card = {"name": "x", "skills": [], "url": URL} | members
    card["supportsAuthenticatedExtendedCard"] = True

    assert describe(card) == expected


@pytest.mark.parametrize(
    "card",
    [
        {},
        build_card(),
        build_card(supportsAuthenticatedExtendedCard="yes"),
        build_v1_card(capabilities={"extendedAgentCard": "yes"}),
        build_v1_card(capabilities=[]),
    ],
)
def test_card_that_declares_no_extended_card_has_no_request(card):
    assert describe(card) is None
