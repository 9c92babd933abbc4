"""Whatever comes in: the right refusal, nothing stored, nothing told to the logs."""

import json

import pytest
from rest_framework.test import APIClient

from catalog.models import AgentType, CatalogEntry, Provider
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, card, card_bytes, skill

NOBODY = "9f1417c9-fdb1-414a-86c2-e3e26766963d"

pytestmark = pytest.mark.django_db

CATALOG = "/api/v1/catalog"
REGISTER = f"{CATALOG}/register"
# Stands in every hostile text, and must not come out again in a log.
MARK = "hunter2-in-the-clear"
MEGABYTE = 1_048_576


@pytest.fixture(autouse=True)
def _nothing_of_it_is_logged(caplog):
    yield
    assert MARK not in caplog.text
    assert "Traceback" not in caplog.text


def post(client, raw: bytes, place: str = REGISTER):
    return client.generic("POST", place, raw, content_type="application/json")


def assert_still_well(client):
    """The next request is served as if nothing had been."""
    assert client.get(CATALOG).status_code == 200


def marked(**members) -> bytes:
    return card_bytes(**({"description": MARK} | members))


def interfaces(*urls) -> list[dict]:
    return [{"url": url, "protocolBinding": "JSONRPC"} for url in urls]


def nested(depth: int) -> bytes:
    deep = b"[" * depth + b"]" * depth
    return marked(deep="HERE").replace(b'"HERE"', deep)


DEFINITIONS = {
    "not JSON": marked() + b"}",
    "cut short": marked()[:-10],
    "JavaScript": f"{{name: '{MARK}'}}".encode(),
    "HTML": f"<html>{MARK}".encode(),
    "an array": json.dumps([MARK]).encode(),
    "a string": json.dumps(MARK).encode(),
    "a number": b"5",
    "null": b"null",
    "nothing": b"",
    "spaces": b" \n ",
    "two hundred levels": nested(200),
    "100 000 brackets": b"[" * 100_000,
    "100 000 nested brackets": nested(100_000),
    "NUL": marked(name=f"a\0{MARK}"),
    "NUL in a member name": marked(**{f"a\0{MARK}": 1}),
    "lone surrogate": marked(name="\ud800"),
    "lone surrogate in a member name": marked(**{"\udfff": 1}),
    "not UTF-8": marked().replace(b"Translator", b"\xff\xfe"),
    "UTF-16": marked().decode().encode("utf-16"),
    "a number too long": marked(n="HERE").replace(b'"HERE"', b"9" * 5_000),
    "a number out of range": marked(n="HERE").replace(b'"HERE"', b"1e999"),
    "NaN": marked(n=float("nan")),
    "10 000 skills": marked(skills=[{"name": f"{n}"} for n in range(10_000)]),
    "10 000 tools": json.dumps(
        {
            "name": MARK,
            "version": "1",
            "tools": [{"name": f"{n}"} for n in range(10_000)],
        }
    ).encode(),
    "a name of 10 kB": marked(name="n" * 10_000),
    "a version of 10 kB": marked(version="1" * 10_000),
    "a provider of 10 kB": marked(provider={"organization": "o" * 10_000}),
    "a description of 30 kB": marked(description=MARK * 1_500),
    "a skill's name of 10 kB": marked(skills=[skill("n" * 10_000)]),
    "a skill's description of 30 kB": marked(skills=[skill(description=MARK * 1_500)]),
    "an endless URL": marked(url="https://example.com/" + "x" * 3_000),
    "no name": marked(name=None),
    "a blank name": marked(name=" \t"),
    "a name that is none": marked(name={"a": [MARK]}),
    "skills that are none": marked(skills=MARK),
    "a skill that is none": marked(skills=[MARK]),
    "no skills": json.dumps(card(description=MARK) | {"skills": None}).encode(),
    "no endpoint": marked(supportedInterfaces=[]),
    "interfaces that are none": marked(supportedInterfaces=[MARK]),
    "a JavaScript URL": marked(supportedInterfaces=interfaces("javascript:alert(1)")),
    "a data URL": marked(supportedInterfaces=interfaces("data:text/html,x")),
    "a file URL": marked(supportedInterfaces=interfaces("file:///etc/passwd")),
    "a URL with spaces": marked(supportedInterfaces=interfaces("https://a b/")),
    "a URL without a host": marked(supportedInterfaces=interfaces("https://")),
    "a URL with a bad port": marked(supportedInterfaces=interfaces("https://a:x/")),
}


@pytest.mark.parametrize("raw", DEFINITIONS.values(), ids=DEFINITIONS.keys())
def test_a_hostile_definition_is_refused(editor, raw):
    answer = post(editor, raw)

    assert answer.json()["code"] in ("INVALID_DEFINITION", "PROTOCOL_NOT_DETECTED")
    body = assert_error_response(answer, 422, answer.json()["code"])
    assert body["details"]["errors"]
    assert not AgentType.objects.exists()
    assert not Provider.objects.exists()
    assert_still_well(editor)


@pytest.mark.parametrize("raw", DEFINITIONS.values(), ids=DEFINITIONS.keys())
def test_validate_finds_the_same_fault(viewer, raw):
    answer = post(viewer, raw, f"{CATALOG}/validate")

    assert (answer.status_code, answer.json()["valid"]) == (422, False)
    assert answer.json()["errors"]
    assert len(answer.content) < 2 * MEGABYTE


@pytest.mark.parametrize(
    "place", [REGISTER, f"{CATALOG}/validate", f"{CATALOG}/import"]
)
@pytest.mark.parametrize("size", [MEGABYTE + 1, 2 * MEGABYTE])
def test_a_body_over_the_limit_is_too_large(editor, place, size):
    raw = MARK.encode().ljust(size, b"x")

    assert_error_response(post(editor, raw, place), 413, "BODY_TOO_LARGE")
    assert not AgentType.objects.exists()
    assert_still_well(editor)


def test_a_body_of_just_the_limit_is_read(editor):
    raw = card_bytes().ljust(MEGABYTE)

    assert post(editor, raw).status_code == 201
    assert CatalogEntry.objects.get().agent_type.definition == raw


def test_skills_of_one_name_are_all_kept_and_told(editor):
    same = [skill("Translate", id=name) for name in ("a", "b", "c")]
    body = post(editor, card_bytes(skills=same)).json()

    names = [c["name"] for c in body["capabilities"] if c["kind"] == "a2a.skill"]
    assert names == ["Translate", "Translate (b)", "Translate (c)"]
    paths = [warning["path"] for warning in body["warnings"]]
    assert paths == ["$.skills[1]", "$.skills[2]"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//x", "x"])
def test_a_link_nobody_should_follow_is_not_kept(editor, url):
    provider = {"organization": "Acme", "url": url}
    body = post(editor, card_bytes(provider=provider)).json()

    assert body["provider"]["url"] == ""
    assert [warning["path"] for warning in body["warnings"]] == ["$.provider.url"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "'; DROP TABLE agent_types; --",
        "\u202egnihsif",
        "{{ 7 * 7 }}",
        "😀" * 300,
        "\x01\x1f\x7f",
        "ﷺ" * 300,
    ],
)
def test_odd_but_honest_names_are_stored_as_they_are(editor, text):
    raw = card_bytes(name=text, skills=[skill(text)])
    body = post(editor, raw).json()

    stored = editor.get(f"{CATALOG}/{body['id']}").json()
    assert stored["display_name"] == text
    assert text in [capability["name"] for capability in stored["capabilities"]]


def test_numbers_as_large_as_they_may_be_come_back_as_they_were(editor):
    schema = {"type": "object", "maximum": 10**4000, "minimum": -1.5}
    tool = {"name": "t", "inputSchema": schema}
    raw = json.dumps({"name": "x", "version": "1", "tools": [tool]}).encode()
    body = post(editor, raw, f"{REGISTER}?protocol=mcp").json()

    told = next(c for c in body["capabilities"] if c["kind"] == "mcp.tool")
    assert told["inputSchema"] == schema


BODIES = {
    "not JSON": f"{{{MARK}".encode(),
    "not UTF-8": b'{"display_name": "\xff"}',
    "an array": json.dumps([MARK]),
    "a string": json.dumps(MARK),
    "null": "null",
    "200 levels": '{"metadata":' + '{"a":' * 200 + "1" + "}" * 201,
    "100 000 brackets": '{"metadata":' + "[" * 100_000,
    "a number too long": '{"metadata": {"a": ' + "9" * 5_000 + "}}",
    "an infinite number": '{"metadata": {"a": 1e999}}',
    "NaN": '{"metadata": {"a": NaN}}',
    "an unknown member": {"colour": MARK},
    "a read-only member": {"endpoint": MARK},
    "an unknown member inside": {"validity": {"form": MARK}},
    "a read-only member inside": {"validity": {"last_seen": "2026-01-01T00:00:00Z"}},
    "NUL in metadata": {"metadata": {"a": [f"\0{MARK}"]}},
    "NUL in a key of metadata": {"metadata": {f"\0{MARK}": 1}},
    "NUL in the name": {"display_name": f"a\0{MARK}"},
    "lone surrogate": {"metadata": {"a": "\ud800"}},
    "1 MB of categories": {"categories": [MARK] * 40_000},
    "100 000 nothings for categories": {"categories": [None] * 100_000},
    "51 categories": {"categories": ["a"] * 51},
    "a category of 101 letters": {"categories": ["a" * 101]},
    "a blank category": {"categories": [" "]},
    "a category that is none": {"categories": [{"a": MARK}]},
    "a number for a category": {"categories": [1]},
    "categories that are none": {"categories": MARK},
    "categories in an object": {"categories": {"a": MARK}},
    "a blank name": {"display_name": " \t"},
    "a name of 301 letters": {"display_name": "n" * 301},
    "a number for a name": {"display_name": 5},
    "true for a name": {"display_name": True},
    "null for a name": {"display_name": None},
    "a list for a name": {"display_name": [MARK]},
    "a description of 20 001 letters": {"description": "d" * 20_001},
    "a list for a description": {"description": [MARK]},
    "a list for metadata": {"metadata": [MARK]},
    "a text for metadata": {"metadata": MARK},
    "null for metadata": {"metadata": None},
    "a status nobody may set": {"status": "offline"},
    "a status nobody knows": {"status": MARK},
    "true for a status": {"status": True},
    "a list for a status": {"status": ["active"]},
    "null for a status": {"status": None},
    "a text for validity": {"validity": MARK},
    "null for validity": {"validity": None},
    "a number for a time": {"validity": {"from": 5}},
    "a list for a time": {"validity": {"from": [MARK]}},
    "no time at all": {"validity": {"to": MARK}},
    "a day there is not": {"validity": {"to": "2026-02-30T00:00:00Z"}},
    "a time before time": {"validity": {"to": "0001-01-01T00:00:00+14:00"}},
    "a time after time": {"validity": {"to": "9999-12-31T23:59:59-14:00"}},
    "a reason of 501 letters": {"status": "active", "reason": "r" * 501},
    "a list for a reason": {"status": "active", "reason": [MARK]},
}


def as_bytes(body) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_hostile_patch_is_refused_and_changes_nothing(editor, body):
    place = f"{CATALOG}/{CatalogEntryFactory().pk}"
    before = editor.get(place).content
    raw = as_bytes(body)
    answer = editor.generic("PATCH", place, raw, content_type="application/json")

    assert_error_response(answer, 400, "INVALID_BODY")
    assert len(answer.content) < 10_000
    assert editor.get(place).content == before


def test_a_patch_over_the_limit_is_too_large(editor):
    place = f"{CATALOG}/{CatalogEntryFactory().pk}"
    raw = json.dumps({"description": MARK.ljust(2 * MEGABYTE)}).encode()
    answer = editor.generic("PATCH", place, raw, content_type="application/json")

    assert_error_response(answer, 413, "BODY_TOO_LARGE")


def test_a_refused_patch_tells_which_member(editor):
    place = f"{CATALOG}/{CatalogEntryFactory().pk}"
    wrong = editor.patch(place, {"status": "offline"}, format="json").json()
    unknown = editor.patch(place, {"validity": {"form": 1}}, format="json").json()

    assert list(wrong["details"]["errors"]) == ["status"]
    assert unknown["details"] == {"members": ["validity.form"]}
    assert unknown["error"] == "Unknown member: validity.form"


IMPORTS = {
    "nothing": ({}, "INVALID_BODY"),
    "no URL": ({"url": ""}, "INVALID_BODY"),
    "a number": ({"url": 5}, "INVALID_BODY"),
    "a list": ({"url": ["https://a.example"]}, "INVALID_BODY"),
    "an endless URL": ({"url": "https://a.example/" + "x" * 2_000}, "INVALID_BODY"),
    "an unknown protocol": (
        {"url": "https://a.example", "protocol": "soap"},
        "INVALID_BODY",
    ),
    "an unknown member": ({"url": "https://a.example", "x": MARK}, "INVALID_BODY"),
    "JavaScript": ({"url": f"javascript:{MARK}"}, "URL_NOT_ALLOWED"),
    "a file": ({"url": "file:///etc/passwd"}, "URL_NOT_ALLOWED"),
    "no URL at all": ({"url": MARK}, "URL_NOT_ALLOWED"),
    "ourselves": ({"url": f"http://127.0.0.1/{MARK}"}, "URL_NOT_ALLOWED"),
    "credentials of a cloud": ({"url": "http://169.254.169.254/"}, "URL_NOT_ALLOWED"),
}


@pytest.mark.parametrize(("body", "code"), IMPORTS.values(), ids=IMPORTS.keys())
def test_a_hostile_import_is_refused(editor, body, code):
    answer = editor.post(f"{CATALOG}/import", body, format="json")

    assert_error_response(answer, 400, code)
    assert not AgentType.objects.exists()


QUERIES = [
    ("q=%00", "q"),
    (f"q=%00{MARK}", "q"),
    ("q=" + "x" * 1_001, "q"),
    ("category=%00", "category"),
    ("feature=%00", "feature"),
    ("feature=a&feature=%00", "feature"),
    ("feature=nonsense", "feature"),
    ("feature=transport", "feature"),
    ("feature=custom", "feature"),
    ("feature=reasoning.suported", "feature"),
    ("feature=transport.streaming,reasoning.supported", "feature"),
    ("feature=identity.name", "feature"),
    ("&".join(f"feature={n}" for n in range(21)), "feature"),
    ("provider=%00", "provider"),
    ("limit=abc", "limit"),
    ("limit=0", "limit"),
    ("limit=201", "limit"),
    ("limit=-1", "limit"),
    ("limit=1.0", "limit"),
    ("limit=1e1", "limit"),
    ("limit=%201", "limit"),
    ("limit=%D9%A1", "limit"),
    ("limit=%00", "limit"),
    ("limit=" + "9" * 5_000, "limit"),
    ("offset=-1", "offset"),
    ("offset=abc", "offset"),
    ("offset=99999999999999999999", "offset"),
    ("offset=1000000001", "offset"),
    (f"colour={MARK}", "colour"),
    ("colour=", "colour"),
    ("%00=1", "\x00"),
    ("Q=x", "Q"),
    ("page=2", "page"),
    ("q=a&q=b", "q"),
    ("limit=1&limit=1", "limit"),
    ("status=active&status=offline", "status"),
    ("sort=nope", "sort"),
    ("sort=displayName_desc", "sort"),
    ("status=nope", "status"),
    ("status=active,nope", "status"),
    ("status=active;offline", "status"),
    ("status=ACTIVE", "status"),
    ("kind=nope", "kind"),
    ("kind=a2a.skill&kind=nope", "kind"),
    ("kind=a2a.skill,mcp.tool", "kind"),
    ("protocol=nope", "protocol"),
    ("source=nope", "source"),
    ("source=null", "source"),
]


@pytest.mark.parametrize(
    ("query", "parameter"), QUERIES, ids=[q[:40] for q, _ in QUERIES]
)
def test_a_hostile_question_is_refused_and_names_the_parameter(
    viewer, query, parameter
):
    CatalogEntryFactory()
    body = assert_error_response(
        viewer.get(f"{CATALOG}?{query}"), 400, "INVALID_PARAMETER"
    )

    assert body["details"] == {"parameter": parameter}
    assert_still_well(viewer)


@pytest.mark.parametrize(
    "query",
    [
        "q=%ED%A0%80",
        "q=%FF%FE",
        "q=" + "%22" * 1_000,
        "q=" + "+".join(chr(97 + n % 26) + str(n) for n in range(200)),
        "q=%1F",
        "q=%25_%5C'%22;--",
        "category=%1F",
        "provider=" + "x" * 5_000,
        "feature=custom." + "x" * 493,
        "&".join(f"feature=custom.{n}" for n in range(20)),
        "&".join(["kind=a2a.skill"] * 900),
    ],
    ids=lambda query: query[:30],
)
def test_an_odd_question_is_answered(viewer, query):
    assert viewer.get(f"{CATALOG}?{query}").status_code == 200


def test_a_thousand_and_one_parameters_are_too_many(viewer, caplog):
    query = "&".join(["feature=x"] * 1_001)
    answer = viewer.get(f"{CATALOG}?{query}")
    caplog.clear()

    assert_error_response(answer, 400, "INVALID_PARAMETER")
    assert_still_well(viewer)


@pytest.mark.parametrize(
    "place", ["/{}", "/{}/card", "/{}/versions?limit=0", "/{}/versions?q=x"]
)
def test_what_takes_no_parameter_refuses_every_one(viewer, place):
    place = CATALOG + place.format(CatalogEntryFactory().pk)
    answer = viewer.get(place if "?" in place else f"{place}?limit=1")

    assert_error_response(answer, 400, "INVALID_PARAMETER")


@pytest.mark.parametrize("place", ["/api/v1/kinds?q=x", "/api/v1/stats?limit=1"])
def test_so_do_kinds_and_stats(viewer, place):
    assert_error_response(viewer.get(place), 400, "INVALID_PARAMETER")


def test_so_do_writes(admin):
    place = f"{CATALOG}/{CatalogEntryFactory().pk}?force=1"

    for answer in (admin.patch(place), admin.delete(place), post(admin, b"{}", place)):
        assert answer.status_code in (400, 405)
    assert CatalogEntry.objects.exists()


CREDENTIALS = [
    "Bearer",
    "Bearer ",
    "Bearer \xff\xfe\x80" + MARK,
    f"Bearer \x00{MARK}",
    f"Bearer {MARK}\x00",
    "Bearer " + MARK * 10_000,
    f"Bearer {MARK} {MARK}",
    f"Bearer {'0' * 64}",
    f"Bearer {'0' * 15}{MARK}{MARK}",
    f"bearer {MARK}",
    f"Basic {MARK}",
    f"Token {MARK}",
    f"{MARK}",
    f"Bearer,{MARK}",
    " ",
]


@pytest.mark.parametrize("header", CREDENTIALS, ids=lambda header: ascii(header)[:30])
def test_a_hostile_credential_is_no_credential(header, viewer):
    stranger = APIClient()
    answer = stranger.get(CATALOG, HTTP_AUTHORIZATION=header)

    assert_error_response(answer, 401, "NOT_AUTHENTICATED")
    assert answer["WWW-Authenticate"] == "Bearer"
    assert_still_well(viewer)


@pytest.mark.parametrize("header", CREDENTIALS, ids=lambda header: ascii(header)[:30])
def test_nor_does_it_register(header):
    stranger = APIClient()
    stranger.credentials(HTTP_AUTHORIZATION=header)

    assert_error_response(post(stranger, card_bytes()), 401, "NOT_AUTHENTICATED")
    assert not AgentType.objects.exists()


@pytest.mark.parametrize(
    ("pk", "code"),
    [
        ("not-a-uuid", "ENTRY_NOT_FOUND"),
        (MARK, "ENTRY_NOT_FOUND"),
        ("x" * 5_000, "ENTRY_NOT_FOUND"),
        ("0" * 33, "ENTRY_NOT_FOUND"),
        ("%00", "ENTRY_NOT_FOUND"),
        (f"{NOBODY}%00", "ENTRY_NOT_FOUND"),
        ("%0A", "ENTRY_NOT_FOUND"),
        ("%F0%9F%98%80", "ENTRY_NOT_FOUND"),
        ("%FF", "ENTRY_NOT_FOUND"),
        ("%20", "ENTRY_NOT_FOUND"),
        ("'%20OR%201=1", "ENTRY_NOT_FOUND"),
        ("..", "NOT_FOUND"),
        ("%2E%2E%2Fkinds", "NOT_FOUND"),
        ("a%2Fb", "NOT_FOUND"),
        ("", "NOT_FOUND"),
        (f"{NOBODY}/nope", "NOT_FOUND"),
        (f"{NOBODY}/card/", "NOT_FOUND"),
    ],
    ids=lambda value: value[:30],
)
def test_an_odd_id_is_not_found(viewer, pk, code):
    assert_error_response(viewer.get(f"{CATALOG}/{pk}"), 404, code)
    assert_still_well(viewer)
