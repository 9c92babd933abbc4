"""A2A's first form of credentials."""

import pytest

from .a2a_cards import build_card, get_capabilities, get_record, parse_card


def get_schemes(**members):
    schemes = get_capabilities(build_card(**members), "a2a.security_scheme")
    return [(scheme.type, scheme.method) for scheme in schemes]


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("Bearer", ("http", "Bearer")),
        ("basic", ("http", "Basic")),
        ("ApiKey", ("apiKey", "")),
        ("api_key", ("apiKey", "")),
        ("OAuth2", ("oauth2", "")),
        ("openIdConnect", ("openIdConnect", "")),
    ],
)
def test_early_authentication_is_security_scheme_t9(name, scheme):
    result = parse_card(build_card(authentication={"schemes": [name]}))

    assert result.warnings == []
    assert get_schemes(authentication={"schemes": [name]}) == [scheme]


@pytest.mark.parametrize("name", ["none", "public", "None", " "])
def test_open_agent_has_no_security_scheme_t9(name):
    assert get_schemes(authentication={"schemes": [name]}) == []


def test_unknown_scheme_is_kept_with_warning():
    card = build_card(authentication={"schemes": ["HMAC"]})
    (warning,) = parse_card(card).warnings

    assert warning.path == "$.authentication.schemes"
    assert get_schemes(authentication={"schemes": ["HMAC"]}) == [("HMAC", "")]


def test_declared_scheme_is_not_repeated():
    declared = {
        "jwt": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    }
    authentication = {"schemes": ["Bearer", "ApiKey", "Basic", "basic"]}

    assert get_schemes(securitySchemes=declared, authentication=authentication) == [
        ("http", "bearer"),
        ("apiKey", "header"),
        ("http", "Basic"),
    ]


def test_credentials_are_not_read_t9():
    authentication = {"schemes": ["Bearer"], "credentials": "sesame"}
    card = build_card(authentication=authentication)
    (warning,) = parse_card(card).warnings

    assert warning.path == "$.authentication.credentials"
    assert "sesame" not in repr(get_record(card)) + warning.message


@pytest.mark.parametrize(
    "authentication",
    [
        None,
        {},
        [],
        "Bearer",
        {"schemes": {}},
        {"schemes": [1]},
        {"schemes": ["x" * 600]},
    ],
)
def test_odd_authentication_does_not_prevent_reading(authentication):
    assert parse_card(build_card(authentication=authentication)).is_valid


def test_name_of_provider_is_organization_t9():
    card = build_card(provider={"name": "Acme", "url": "https://acme.example"})

    assert get_record(card).provider.organization == "Acme"
    (warning,) = parse_card(card).warnings
    assert warning.path == "$.provider.name"
