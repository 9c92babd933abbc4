import base64
import json

import pytest

from capabilities.problems import Problem

from .a2a_cards import (
    build_card,
    build_skill,
    get_capabilities,
    get_error_paths,
    get_features,
    get_names,
    get_properties,
    get_warning_paths,
    load_sample,
    parse_card,
)

FLOWS = {
    "authorizationCode": {
        "authorizationUrl": "https://login.example.com/authorize",
        "tokenUrl": "https://login.example.com/token",
        "scopes": {"read": "Read"},
    },
    "clientCredentials": {"tokenUrl": "https://login.example.com/token", "scopes": {}},
}
OIDC_URL = "https://login.example.com/.well-known/openid-configuration"
METADATA_URL = "https://login.example.com/.well-known/oauth-authorization-server"

# Scheme before revision 1.0, scheme since 1.0, and expected properties.
SCHEMES = [
    (
        {"type": "apiKey", "in": "cookie", "name": "session"},
        {"apiKeySecurityScheme": {"location": "cookie", "name": "session"}},
        {"method": "cookie", "location": "cookie", "parameter_name": "session"},
    ),
    (
        {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
        {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        {"method": "Bearer", "scheme": "Bearer", "bearer_format": "JWT"},
    ),
    (
        {"type": "oauth2", "flows": FLOWS, "oauth2MetadataUrl": METADATA_URL},
        {"oauth2SecurityScheme": {"flows": FLOWS, "oauth2MetadataUrl": METADATA_URL}},
        {
            "method": "authorizationCode, clientCredentials",
            "flows": FLOWS,
            "oauth2_metadata_url": METADATA_URL,
        },
    ),
    (
        {"type": "openIdConnect", "openIdConnectUrl": OIDC_URL},
        {"openIdConnectSecurityScheme": {"openIdConnectUrl": OIDC_URL}},
        {"method": "", "open_id_connect_url": OIDC_URL},
    ),
    ({"type": "mutualTLS"}, {"mtlsSecurityScheme": {}}, {"method": ""}),
]
for_each_scheme = pytest.mark.parametrize(
    ("older", "newer", "expected"),
    SCHEMES,
    ids=[older["type"] for older, _, _ in SCHEMES],
)


def parse_scheme(definition):
    """Return the only security scheme of a card with this definition."""
    [parsed] = get_capabilities(
        build_card(securitySchemes={"main": definition}), "a2a.security_scheme"
    )
    return parsed


def encode_header(header):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def build_signed_card(*signatures):
    return build_card(signatures=list(signatures))


# Schemes


@for_each_scheme
def test_scheme_is_parsed_alike_in_every_spelling(older, newer, expected):
    expected_properties = {"key": "main", "type": older["type"]} | expected

    for definition in (older, newer, older | newer):
        assert parse_scheme(definition).properties == expected_properties
        assert parse_scheme(definition).name == older["type"]
        assert not get_warning_paths(build_card(securitySchemes={"main": definition}))


@for_each_scheme
def test_scheme_description_is_parsed_in_every_spelling(older, newer, expected):
    [wrapper] = newer
    inner = newer[wrapper] | {"description": "For staff"}

    assert parse_scheme(older | {"description": "For staff"}).description == "For staff"
    assert parse_scheme({wrapper: inner}).description == "For staff"
    assert "description" not in parse_scheme({wrapper: inner}).properties


def test_schemes_of_one_type_get_key_in_name():
    definition = {"type": "http", "scheme": "Basic"}
    document = build_card(
        securitySchemes={"staff": definition, "guests": definition, "": definition}
    )

    names = get_names(document, "a2a.security_scheme")
    assert names == ["http", "http (guests)", "http (2)"]


@pytest.mark.parametrize(
    ("definition", "name", "message"),
    [
        ({}, "unknown", "has no security scheme type"),
        ({"type": " "}, "unknown", "has no security scheme type"),
        ({"type": "magic"}, "magic", "has an unknown security scheme type: magic"),
    ],
)
def test_scheme_of_unknown_type_is_a_warning(definition, name, message):
    assert parse_scheme(definition).name == parse_scheme(definition).type == name
    [problem] = parse_card(build_card(securitySchemes={"main": definition})).warnings
    assert problem.path == "$.securitySchemes.main"
    assert problem.message == message


@pytest.mark.parametrize("schemes", [[], "none", 5])
def test_schemes_that_are_not_an_object_are_ignored_with_a_warning(schemes):
    document = build_card(securitySchemes=schemes)

    assert get_capabilities(document, "a2a.security_scheme") == []
    assert get_warning_paths(document) == ["$.securitySchemes"]


def test_scheme_that_is_not_an_object_is_a_warning():
    document = build_card(securitySchemes={"my key": "Bearer"})

    assert parse_scheme("Bearer").name == "unknown"
    assert "$.securitySchemes['my key']" in get_warning_paths(document)


def test_unknown_scheme_members_are_stored_with_a_warning():
    flat = {"type": "http", "scheme": "Basic", "xRealm": "desk"}
    wrapped = {"httpAuthSecurityScheme": {"scheme": "Basic", "xRealm": "desk"}}

    assert parse_scheme(flat).properties["x_realm"] == "desk"
    assert parse_scheme(wrapped).properties == parse_scheme(flat).properties
    path = "$.securitySchemes.main"
    assert get_warning_paths(build_card(securitySchemes={"main": flat})) == [
        f"{path}.xRealm"
    ]
    assert get_warning_paths(build_card(securitySchemes={"main": wrapped})) == [
        f"{path}.httpAuthSecurityScheme.xRealm"
    ]


def test_unknown_scheme_members_do_not_replace_own_properties():
    definition = {"type": "apiKey", "key": "X", "method": "Y", "Name": "Z", "kind": "W"}
    parsed = parse_scheme(definition)

    assert parsed.properties == {"key": "main", "type": "apiKey", "method": ""}
    assert type(parsed).from_stored(parsed.name, "", parsed.properties) == parsed
    assert len(get_warning_paths(build_card(securitySchemes={"main": definition}))) == 4


def test_null_scheme_wrapper_is_ignored():
    definition = {"apiKeySecurityScheme": None, "type": "http", "scheme": "Basic"}

    assert parse_scheme(definition).type == "http"


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "oauth2", "flows": ["implicit"]},
        {"type": "http", "scheme": 5},
        {"type": "apiKey", "in": {}},
    ],
)
def test_scheme_method_is_empty_for_invalid_members(definition):
    assert parse_scheme(definition).method == ""


# Requirements


def test_security_requirements_become_a_feature():
    expected = [{"partner": ["book"]}, {"staff": []}]

    assert get_features(load_sample("v03_booking"))["security.requirements"] == expected


def test_skill_keeps_its_own_security_requirements():
    rooms, tables = get_capabilities(load_sample("v03_booking"), "a2a.skill")

    assert rooms.security == [{"partner": ["book"], "staff": []}]
    assert tables.security is None
    assert "security" not in tables.properties


REQUIREMENTS = [
    ([{"a": ["x", "y"]}], [{"schemes": {"a": {"list": ["x", "y"]}}}]),
    (
        [{"a": []}, {"b": ["x"]}],
        [{"schemes": {"a": {}}}, {"schemes": {"b": {"list": ["x"]}}}],
    ),
    ([{"a": [], "b": []}], [{"schemes": {"a": {"list": []}, "b": {"list": None}}}]),
    ([{}, {"a": []}], [{}, {"schemes": {"a": {}}}]),
]


@pytest.mark.parametrize(("older", "newer"), REQUIREMENTS)
def test_security_requirements_are_parsed_alike_in_both_spellings(older, newer):
    for members in (
        {"security": older},
        {"securityRequirements": newer},
        {"securityRequirements": newer, "security": older},
        {"securityRequirements": None, "security": older},
    ):
        document = build_card(skills=[build_skill(**members)], **members)
        assert get_features(document)["security.requirements"] == older
        assert get_properties(document, "a2a.skill")[0]["security"] == older
        assert not get_warning_paths(document)


def test_contradicting_older_security_requirements_are_ignored_with_a_warning():
    members = {
        "securityRequirements": [{"schemes": {"key": {}}}],
        "security": [{"ignored": []}],
    }
    document = build_card(**members)

    assert get_features(document)["security.requirements"] == [{"key": []}]
    assert get_warning_paths(document) == ["$.security"]


def test_skill_distinguishes_empty_from_missing_security():
    document = build_card(
        skills=[build_skill(security=[]), build_skill(name="Other", security=None)]
    )

    assert [skill.security for skill in get_capabilities(document, "a2a.skill")] == [
        [],
        None,
    ]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"security": {"a": []}}, "security"),
        ({"security": [{"a": "x"}]}, "security[0].a"),
        ({"security": [{"a": ["x", 5]}]}, "security[0].a[1]"),
        ({"securityRequirements": "a"}, "securityRequirements"),
        ({"securityRequirements": [{"a": ["x"]}]}, "securityRequirements[0].a"),
        (
            {"securityRequirements": [{"schemes": {"a": ["x"]}}]},
            "securityRequirements[0].schemes.a",
        ),
        (
            {"securityRequirements": [{"schemes": {"a": {"scopes": ["x"]}}}]},
            "securityRequirements[0].schemes.a.scopes",
        ),
    ],
)
def test_invalid_requirement_is_a_warning_with_path(members, path):
    assert parse_card(build_card(**members)).is_valid
    assert get_warning_paths(build_card(**members)) == [f"$.{path}"]
    assert get_warning_paths(build_card(skills=[build_skill(**members)])) == [
        f"$.skills[0].{path}"
    ]


def test_requirement_that_is_not_an_object_is_an_error():
    assert get_error_paths(build_card(security=["a"])) == ["$.security[0]"]


# Signatures


def test_signature_is_named_by_its_algorithm():
    [signature] = get_capabilities(load_sample("v03_booking"), "a2a.signature")

    assert signature.name == "ES256"
    assert signature.properties == {
        "algorithm": "ES256",
        "key_id": "booking-1",
        "protected": load_sample("v03_booking")["signatures"][0]["protected"],
        "signature": "c2lnbmF0dXJlLW9mLXRoZS1ib29raW5nLWRlc2s",
        "header": {"note": "rotated yearly"},
    }


@pytest.mark.parametrize("algorithm", ["A", "AB", "ABC", "ABCD"])
def test_signature_header_of_any_length_is_decoded(algorithm):
    document = build_signed_card(
        {"protected": encode_header({"alg": algorithm}), "header": {}}
    )

    [signature] = get_capabilities(document, "a2a.signature")
    assert signature.name == algorithm
    assert "header" not in signature.properties


def test_signatures_of_one_algorithm_get_key_id_in_name():
    headers = [{"alg": "ES256", "kid": kid} for kid in ("a", "b", "")]
    document = build_signed_card(
        *({"protected": encode_header(header)} for header in headers)
    )

    names = get_names(document, "a2a.signature")
    assert names == ["ES256", "ES256:b", "ES256 (2)"]


@pytest.mark.parametrize(
    "encoded",
    [
        "",
        "?",
        "größe",
        encode_header(b"not JSON"),
        encode_header(b"\xff\xfe"),
        encode_header([]),
        encode_header({}),
        encode_header({"alg": 5}),
        encode_header({"alg": "  "}),
        encode_header({"alg": "ES\x00256"}),
        encode_header(rb'{"alg": "\ud800"}'),
        encode_header(b"[" * 5_000),
        encode_header(b'{"alg": ' + b"9" * 5_000 + b"}"),
    ],
)
def test_signature_header_without_algorithm_is_a_warning(encoded):
    document = build_signed_card({"protected": encoded, "signature": "c2ln"})

    [signature] = get_capabilities(document, "a2a.signature")
    assert signature.name == signature.algorithm == "unknown"
    assert (signature.protected, signature.signature) == (encoded, "c2ln")
    assert parse_card(document).warnings == [
        Problem(
            "$.signatures[0].protected",
            "should be a base64url-encoded JSON header with an alg",
        )
    ]


@pytest.mark.parametrize("kid", ["k\0", "\ud800", 5, None, {"a": "\0"}])
def test_invalid_key_id_in_signature_header_is_dropped(kid):
    [signature] = get_capabilities(
        build_signed_card({"protected": encode_header({"alg": "ES256", "kid": kid})}),
        "a2a.signature",
    )

    assert signature.key_id == ""
    assert "\0" not in json.dumps(signature.properties, ensure_ascii=False)


def test_too_long_signature_algorithm_is_an_error_with_path():
    assert get_error_paths(
        build_signed_card({"protected": encode_header({"alg": "a" * 501})})
    ) == ["$.signatures[0]"]


def test_invalid_signature_members_are_warnings():
    document = build_signed_card(
        {"protected": 5, "signature": 5, "header": "x", "extra": 1}
    )

    assert parse_card(document).is_valid
    assert sorted(set(get_warning_paths(document))) == [
        "$.signatures[0].extra",
        "$.signatures[0].header",
        "$.signatures[0].protected",
        "$.signatures[0].signature",
    ]


@pytest.mark.parametrize("signatures", [{}, "x", [5]])
def test_signatures_that_are_not_a_list_of_objects_are_an_error(signatures):
    assert get_error_paths(build_card(signatures=signatures))
