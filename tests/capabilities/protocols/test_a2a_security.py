import base64
import json

import pytest

from capabilities.problems import Problem

from .a2a_reading import (
    card,
    errors,
    features,
    offers,
    properties,
    read,
    sample,
    skill,
    warnings,
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

# Type, members before revision 1.0, wrapper and members since, and what is kept.
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
each_scheme = pytest.mark.parametrize(
    ("older", "newer", "kept"), SCHEMES, ids=[older["type"] for older, _, _ in SCHEMES]
)


def scheme(stated):
    """The one scheme of a card that states it so."""
    [found] = offers(card(securitySchemes={"main": stated}), "a2a.security_scheme")
    return found


def protected(header):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def signed(*signatures):
    return card(signatures=list(signatures))


# Schemes


@each_scheme
def test_a_scheme_reads_the_same_in_every_spelling(older, newer, kept):
    expected = {"key": "main", "type": older["type"]} | kept

    for stated in (older, newer, older | newer):
        assert scheme(stated).properties == expected
        assert scheme(stated).name == older["type"]
        assert not warnings(card(securitySchemes={"main": stated}))


@each_scheme
def test_a_scheme_is_described_in_every_spelling(older, newer, kept):
    [wrapper] = newer
    inner = newer[wrapper] | {"description": "For staff"}

    assert scheme(older | {"description": "For staff"}).description == "For staff"
    assert scheme({wrapper: inner}).description == "For staff"
    assert "description" not in scheme({wrapper: inner}).properties


def test_schemes_of_one_type_are_told_apart_by_their_key():
    stated = {"type": "http", "scheme": "Basic"}
    document = card(securitySchemes={"staff": stated, "guests": stated, "": stated})

    names = [each.name for each in offers(document, "a2a.security_scheme")]
    assert names == ["http", "http (guests)", "http (2)"]


@pytest.mark.parametrize(
    ("stated", "name"),
    [({}, "unknown"), ({"type": " "}, "unknown"), ({"type": "magic"}, "magic")],
)
def test_a_scheme_of_unknown_type_is_kept_with_a_warning(stated, name):
    shown = name.replace("unknown", "missing")
    assert scheme(stated).name == scheme(stated).type == name
    [problem] = read(card(securitySchemes={"main": stated})).warnings
    assert problem.path == "$.securitySchemes.main"
    assert problem.message == f"security scheme type is unknown: {shown}"


@pytest.mark.parametrize("schemes", [[], "none", 5])
def test_schemes_that_are_no_object_are_ignored_with_a_warning(schemes):
    document = card(securitySchemes=schemes)

    assert offers(document, "a2a.security_scheme") == []
    assert warnings(document) == ["$.securitySchemes"]


def test_a_scheme_that_is_no_object_is_told():
    document = card(securitySchemes={"my key": "Bearer"})

    assert scheme("Bearer").name == "unknown"
    assert "$.securitySchemes['my key']" in warnings(document)


def test_unknown_members_of_a_scheme_are_kept_and_told():
    stated = {"type": "http", "scheme": "Basic", "xRealm": "desk"}
    wrapped = {"httpAuthSecurityScheme": {"scheme": "Basic", "xRealm": "desk"}}

    assert scheme(stated).properties["x_realm"] == "desk"
    assert scheme(wrapped).properties == scheme(stated).properties
    place = "$.securitySchemes.main"
    assert warnings(card(securitySchemes={"main": stated})) == [f"{place}.xRealm"]
    assert warnings(card(securitySchemes={"main": wrapped})) == [
        f"{place}.httpAuthSecurityScheme.xRealm"
    ]


def test_no_member_of_a_scheme_hides_what_the_scheme_is():
    stated = {"type": "apiKey", "key": "X", "method": "Y", "Name": "Z", "kind": "W"}
    found = scheme(stated)

    assert found.properties == {"key": "main", "type": "apiKey", "method": ""}
    assert type(found).from_stored(found.name, "", found.properties) == found
    assert len(warnings(card(securitySchemes={"main": stated}))) == 4


def test_a_wrapper_that_is_null_is_none():
    stated = {"apiKeySecurityScheme": None, "type": "http", "scheme": "Basic"}

    assert scheme(stated).type == "http"


@pytest.mark.parametrize(
    "stated",
    [
        {"type": "oauth2", "flows": ["implicit"]},
        {"type": "http", "scheme": 5},
        {"type": "apiKey", "in": {}},
    ],
)
def test_a_method_that_cannot_be_told_is_empty(stated):
    assert scheme(stated).method == ""


# Requirements


def test_what_a_caller_must_present_is_a_feature_of_the_agent():
    expected = [{"partner": ["book"]}, {"staff": []}]

    assert features(sample("v03_booking"))["security.requirements"] == expected


def test_what_a_skill_asks_for_is_its_own():
    rooms, tables = offers(sample("v03_booking"), "a2a.skill")

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
def test_requirements_read_the_same_in_both_spellings(older, newer):
    for stated in (
        {"security": older},
        {"securityRequirements": newer},
        {"securityRequirements": newer, "security": [{"ignored": []}]},
        {"securityRequirements": None, "security": older},
    ):
        document = card(skills=[skill(**stated)], **stated)
        assert features(document)["security.requirements"] == older
        assert properties(document, "a2a.skill")[0]["security"] == older
        assert not warnings(document)


def test_a_skill_that_asks_for_nothing_is_not_one_that_does_not_say():
    document = card(skills=[skill(security=[]), skill(name="Other", security=None)])

    assert [each.security for each in offers(document, "a2a.skill")] == [[], None]


@pytest.mark.parametrize(
    ("stated", "path"),
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
def test_a_requirement_that_cannot_be_read_is_told(stated, path):
    assert read(card(**stated)).valid
    assert warnings(card(**stated)) == [f"$.{path}"]
    assert warnings(card(skills=[skill(**stated)])) == [f"$.skills[0].{path}"]


def test_a_requirement_that_is_no_object_is_an_error():
    assert errors(card(security=["a"])) == ["$.security[0]"]


# Signatures


def test_a_signature_is_named_by_its_algorithm():
    [found] = offers(sample("v03_booking"), "a2a.signature")

    assert found.name == "ES256"
    assert found.properties == {
        "algorithm": "ES256",
        "key_id": "booking-1",
        "protected": sample("v03_booking")["signatures"][0]["protected"],
        "signature": "c2lnbmF0dXJlLW9mLXRoZS1ib29raW5nLWRlc2s",
        "header": {"note": "rotated yearly"},
    }


@pytest.mark.parametrize("algorithm", ["A", "AB", "ABC", "ABCD"])
def test_a_header_of_any_length_is_decoded(algorithm):
    document = signed({"protected": protected({"alg": algorithm}), "header": {}})

    [found] = offers(document, "a2a.signature")
    assert found.name == algorithm
    assert "header" not in found.properties


def test_signatures_of_one_algorithm_are_told_apart_by_their_key():
    headers = [{"alg": "ES256", "kid": kid} for kid in ("a", "b", "")]
    document = signed(*({"protected": protected(header)} for header in headers))

    names = [each.name for each in offers(document, "a2a.signature")]
    assert names == ["ES256", "ES256:b", "ES256 (2)"]


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "?",
        "größe",
        protected(b"not JSON"),
        protected(b"\xff\xfe"),
        protected([]),
        protected({}),
        protected({"alg": 5}),
        protected({"alg": "  "}),
        protected({"alg": "ES\x00256"}),
        protected(rb'{"alg": "\ud800"}'),
        protected(b"[" * 5_000),
        protected(b'{"alg": ' + b"9" * 5_000 + b"}"),
    ],
)
def test_a_header_that_names_no_algorithm_is_told_and_the_signature_kept(stated):
    document = signed({"protected": stated, "signature": "c2ln"})

    [found] = offers(document, "a2a.signature")
    assert found.name == found.algorithm == "unknown"
    assert (found.protected, found.signature) == (stated, "c2ln")
    assert read(document).warnings == [
        Problem(
            "$.signatures[0].protected",
            "is no base64url JSON header that names an algorithm",
        )
    ]


@pytest.mark.parametrize("kid", ["k\0", "\ud800", 5, None, {"a": "\0"}])
def test_nothing_hostile_gets_out_of_a_header(kid):
    [found] = offers(
        signed({"protected": protected({"alg": "ES256", "kid": kid})}), "a2a.signature"
    )

    assert found.key_id == ""
    assert "\0" not in json.dumps(found.properties, ensure_ascii=False)


def test_an_endless_algorithm_is_an_error_where_the_signature_stands():
    assert errors(signed({"protected": protected({"alg": "a" * 501})})) == [
        "$.signatures[0]"
    ]


def test_a_signature_of_odd_members_is_told():
    document = signed({"protected": 5, "signature": 5, "header": "x", "extra": 1})

    assert read(document).valid
    assert sorted(set(warnings(document))) == [
        "$.signatures[0].extra",
        "$.signatures[0].header",
        "$.signatures[0].protected",
        "$.signatures[0].signature",
    ]


@pytest.mark.parametrize("signatures", [{}, "x", [5]])
def test_signatures_must_be_a_list_of_objects(signatures):
    assert errors(card(signatures=signatures))
