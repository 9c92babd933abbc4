"""Invalid and hostile input is rejected, not stored and not logged."""

import json

import pytest
from rest_framework.test import APIClient

from catalog.models import AgentType, CatalogEntry, Provider
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, card, card_bytes, skill

from .entries import (
    CATALOG_URL,
    IMPORT_URL,
    REGISTER_URL,
    VALIDATE_URL,
    entry_url,
    select_capabilities,
)

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "9f1417c9-fdb1-414a-86c2-e3e26766963d"
# Part of the hostile input; it must not appear in the logs.
SECRET = "hunter2-in-the-clear"
MEGABYTE = 1_048_576


@pytest.fixture(autouse=True)
def _check_logs(caplog):
    yield
    assert SECRET not in caplog.text
    assert "Traceback" not in caplog.text


def post_json(client, raw: bytes, url: str = REGISTER_URL):
    return client.generic("POST", url, raw, content_type="application/json")


def patch_json(client, url: str, raw: bytes):
    return client.generic("PATCH", url, raw, content_type="application/json")


def assert_still_serving(client):
    assert client.get(CATALOG_URL).status_code == 200


def secret_card(**members) -> bytes:
    """Return a card with the secret in its description."""
    return card_bytes(**({"description": SECRET} | members))


def card_with_interface(url: str) -> bytes:
    return secret_card(supportedInterfaces=[{"url": url, "protocolBinding": "JSONRPC"}])


def card_with_json(text: bytes) -> bytes:
    """Return a card with a member whose value is this JSON text."""
    return secret_card(member="HERE").replace(b'"HERE"', text)


def nested_arrays(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


INVALID_DEFINITIONS = {
    "not JSON": secret_card() + b"}",
    "truncated": secret_card()[:-10],
    "a JavaScript object": f"{{name: '{SECRET}'}}".encode(),
    "HTML": f"<html>{SECRET}".encode(),
    "an array": json.dumps([SECRET]).encode(),
    "a string": json.dumps(SECRET).encode(),
    "a number": b"5",
    "null": b"null",
    "empty": b"",
    "only white space": b" \n ",
    "200 nested arrays": card_with_json(nested_arrays(200)),
    "100 000 brackets": b"[" * 100_000,
    "100 000 nested arrays": card_with_json(nested_arrays(100_000)),
    "NUL": secret_card(name=f"a\0{SECRET}"),
    "NUL in a member name": secret_card(**{f"a\0{SECRET}": 1}),
    "lone surrogate": secret_card(name="\ud800"),
    "lone surrogate in a member name": secret_card(**{"\udfff": 1}),
    "not UTF-8": secret_card().replace(b"Translator", b"\xff\xfe"),
    "UTF-16": secret_card().decode().encode("utf-16"),
    "a number with 5000 digits": card_with_json(b"9" * 5_000),
    "a number out of range": card_with_json(b"1e999"),
    "NaN": secret_card(n=float("nan")),
    "10 000 skills": secret_card(skills=[{"name": f"{n}"} for n in range(10_000)]),
    "10 000 tools": json.dumps(
        {
            "name": SECRET,
            "version": "1",
            "tools": [{"name": f"{n}"} for n in range(10_000)],
        }
    ).encode(),
    "a name of 10 kB": secret_card(name="n" * 10_000),
    "a version of 10 kB": secret_card(version="1" * 10_000),
    "a provider of 10 kB": secret_card(provider={"organization": "o" * 10_000}),
    "a description of 30 kB": secret_card(description=SECRET * 1_500),
    "a skill's name of 10 kB": secret_card(skills=[skill("n" * 10_000)]),
    "a skill's description of 30 kB": secret_card(
        skills=[skill(description=SECRET * 1_500)]
    ),
    "a URL of 3 kB": secret_card(url="https://example.com/" + "x" * 3_000),
    "null as name": secret_card(name=None),
    "a blank name": secret_card(name=" \t"),
    "an object as name": secret_card(name={"a": [SECRET]}),
    "a text as skills": secret_card(skills=SECRET),
    "a text as skill": secret_card(skills=[SECRET]),
    "null as skills": json.dumps(card(description=SECRET) | {"skills": None}).encode(),
    "no endpoint": secret_card(supportedInterfaces=[]),
    "a text as interface": secret_card(supportedInterfaces=[SECRET]),
    "a JavaScript URL": card_with_interface("javascript:alert(1)"),
    "a data URL": card_with_interface("data:text/html,x"),
    "a file URL": card_with_interface("file:///etc/passwd"),
    "a URL with spaces": card_with_interface("https://a b/"),
    "a URL without a host": card_with_interface("https://"),
    "a URL with a bad port": card_with_interface("https://a:x/"),
}


@pytest.mark.parametrize(
    "raw", INVALID_DEFINITIONS.values(), ids=INVALID_DEFINITIONS.keys()
)
def test_register_rejects_invalid_definition(editor_api, raw):
    response = post_json(editor_api, raw)

    assert response.json()["code"] in ("INVALID_DEFINITION", "PROTOCOL_NOT_DETECTED")
    body = assert_error_response(response, 422, response.json()["code"])
    assert body["details"]["errors"]
    assert not AgentType.objects.exists()
    assert not Provider.objects.exists()
    assert_still_serving(editor_api)


@pytest.mark.parametrize(
    "raw", INVALID_DEFINITIONS.values(), ids=INVALID_DEFINITIONS.keys()
)
def test_validate_reports_invalid_definition(viewer_api, raw):
    response = post_json(viewer_api, raw, VALIDATE_URL)

    assert (response.status_code, response.json()["valid"]) == (422, False)
    assert response.json()["errors"]
    assert len(response.content) < 2 * MEGABYTE


@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL, IMPORT_URL])
@pytest.mark.parametrize("size", [MEGABYTE + 1, 2 * MEGABYTE])
def test_body_over_size_limit_returns_413(editor_api, url, size):
    raw = SECRET.encode().ljust(size, b"x")

    assert_error_response(post_json(editor_api, raw, url), 413, "BODY_TOO_LARGE")
    assert not AgentType.objects.exists()
    assert_still_serving(editor_api)


def test_body_at_size_limit_is_accepted(editor_api):
    raw = card_bytes().ljust(MEGABYTE)

    assert post_json(editor_api, raw).status_code == 201
    assert CatalogEntry.objects.get().agent_type.definition == raw


def test_register_renames_skills_with_same_name_and_warns(editor_api):
    skills = [skill("Translate", id=skill_id) for skill_id in ("a", "b", "c")]
    body = post_json(editor_api, card_bytes(skills=skills)).json()

    names = [item["name"] for item in select_capabilities(body, "a2a.skill")]
    assert names == ["Translate", "Translate (b)", "Translate (c)"]
    paths = [warning["path"] for warning in body["warnings"]]
    assert paths == ["$.skills[1]", "$.skills[2]"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//x", "x"])
def test_register_drops_provider_url_that_is_not_http_and_warns(editor_api, url):
    provider = {"organization": "Acme", "url": url}
    body = post_json(editor_api, card_bytes(provider=provider)).json()

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
def test_register_stores_unusual_names_unchanged(editor_api, text):
    raw = card_bytes(name=text, skills=[skill(text)])
    body = post_json(editor_api, raw).json()

    stored = editor_api.get(f"{CATALOG_URL}/{body['id']}").json()
    assert stored["display_name"] == text
    names = [item["name"] for item in select_capabilities(stored, "a2a.skill")]
    assert names == [text]


def test_register_stores_large_numbers_unchanged(editor_api):
    schema = {"type": "object", "maximum": 10**4000, "minimum": -1.5}
    tool = {"name": "t", "inputSchema": schema}
    raw = json.dumps({"name": "x", "version": "1", "tools": [tool]}).encode()
    entry = post_json(editor_api, raw, f"{REGISTER_URL}?protocol=mcp").json()

    [stored_tool] = select_capabilities(entry, "mcp.tool")
    assert stored_tool["inputSchema"] == schema


INVALID_PATCHES = {
    "not JSON": f"{{{SECRET}".encode(),
    "not UTF-8": b'{"display_name": "\xff"}',
    "an array": json.dumps([SECRET]),
    "a string": json.dumps(SECRET),
    "null": "null",
    "200 nested objects": '{"metadata":' + '{"a":' * 200 + "1" + "}" * 201,
    "100 000 brackets": '{"metadata":' + "[" * 100_000,
    "a number with 5000 digits": '{"metadata": {"a": ' + "9" * 5_000 + "}}",
    "an infinite number": '{"metadata": {"a": 1e999}}',
    "NaN": '{"metadata": {"a": NaN}}',
    "an unknown member": {"color": SECRET},
    "a read-only member": {"endpoint": SECRET},
    "an unknown member inside": {"validity": {"form": SECRET}},
    "a read-only member inside": {"validity": {"last_seen": "2026-01-01T00:00:00Z"}},
    "NUL in metadata": {"metadata": {"a": [f"\0{SECRET}"]}},
    "NUL in a metadata key": {"metadata": {f"\0{SECRET}": 1}},
    "NUL in the name": {"display_name": f"a\0{SECRET}"},
    "lone surrogate": {"metadata": {"a": "\ud800"}},
    "1 MB of categories": {"categories": [SECRET] * 40_000},
    "100 000 nulls as categories": {"categories": [None] * 100_000},
    "51 categories": {"categories": ["a"] * 51},
    "a category of 101 characters": {"categories": ["a" * 101]},
    "a blank category": {"categories": [" "]},
    "an object as category": {"categories": [{"a": SECRET}]},
    "a number as category": {"categories": [1]},
    "a text as categories": {"categories": SECRET},
    "an object as categories": {"categories": {"a": SECRET}},
    "a blank name": {"display_name": " \t"},
    "a name of 301 characters": {"display_name": "n" * 301},
    "a number as name": {"display_name": 5},
    "true as name": {"display_name": True},
    "null as name": {"display_name": None},
    "a list as name": {"display_name": [SECRET]},
    "a description of 20 001 characters": {"description": "d" * 20_001},
    "a list as description": {"description": [SECRET]},
    "a list as metadata": {"metadata": [SECRET]},
    "a text as metadata": {"metadata": SECRET},
    "null as metadata": {"metadata": None},
    "a status that cannot be set": {"status": "offline"},
    "an unknown status": {"status": SECRET},
    "true as status": {"status": True},
    "a list as status": {"status": ["active"]},
    "null as status": {"status": None},
    "a text as validity": {"validity": SECRET},
    "null as validity": {"validity": None},
    "a number as time": {"validity": {"from": 5}},
    "a list as time": {"validity": {"from": [SECRET]}},
    "a text that is no time": {"validity": {"to": SECRET}},
    "a date that does not exist": {"validity": {"to": "2026-02-30T00:00:00Z"}},
    "a time before year 1": {"validity": {"to": "0001-01-01T00:00:00+14:00"}},
    "a time after year 9999": {"validity": {"to": "9999-12-31T23:59:59-14:00"}},
    "a reason of 501 characters": {"status": "active", "reason": "r" * 501},
    "a list as reason": {"status": "active", "reason": [SECRET]},
}


def to_bytes(body) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.mark.parametrize("body", INVALID_PATCHES.values(), ids=INVALID_PATCHES.keys())
def test_patch_rejects_invalid_body_and_changes_nothing(editor_api, body):
    url = entry_url(CatalogEntryFactory())
    before = editor_api.get(url).content
    raw = to_bytes(body)
    response = patch_json(editor_api, url, raw)

    assert_error_response(response, 400, "INVALID_BODY")
    assert len(response.content) < 10_000
    assert editor_api.get(url).content == before


def test_patch_over_size_limit_returns_413(editor_api):
    url = entry_url(CatalogEntryFactory())
    raw = json.dumps({"description": SECRET.ljust(2 * MEGABYTE)}).encode()
    response = patch_json(editor_api, url, raw)

    assert_error_response(response, 413, "BODY_TOO_LARGE")


def test_patch_error_names_the_invalid_member(editor_api):
    url = entry_url(CatalogEntryFactory())
    invalid_value = editor_api.patch(url, {"status": "offline"}, format="json").json()
    unknown_member = editor_api.patch(
        url, {"validity": {"form": 1}}, format="json"
    ).json()

    assert list(invalid_value["details"]["errors"]) == ["status"]
    assert unknown_member["details"] == {"members": ["validity.form"]}
    assert unknown_member["error"] == "Unknown member: validity.form"


INVALID_IMPORTS = {
    "empty": ({}, "INVALID_BODY"),
    "an empty URL": ({"url": ""}, "INVALID_BODY"),
    "a number": ({"url": 5}, "INVALID_BODY"),
    "a list as URL": ({"url": ["https://a.example"]}, "INVALID_BODY"),
    "a URL of 2 kB": ({"url": "https://a.example/" + "x" * 2_000}, "INVALID_BODY"),
    "an unknown protocol": (
        {"url": "https://a.example", "protocol": "soap"},
        "INVALID_BODY",
    ),
    "an unknown member": ({"url": "https://a.example", "x": SECRET}, "INVALID_BODY"),
    "a JavaScript URL": ({"url": f"javascript:{SECRET}"}, "URL_NOT_ALLOWED"),
    "a file URL": ({"url": "file:///etc/passwd"}, "URL_NOT_ALLOWED"),
    "a text that is no URL": ({"url": SECRET}, "URL_NOT_ALLOWED"),
    "a loopback URL": ({"url": f"http://127.0.0.1/{SECRET}"}, "URL_NOT_ALLOWED"),
    "a cloud metadata URL": ({"url": "http://169.254.169.254/"}, "URL_NOT_ALLOWED"),
}


@pytest.mark.parametrize(
    ("body", "code"), INVALID_IMPORTS.values(), ids=INVALID_IMPORTS.keys()
)
def test_import_rejects_invalid_body_or_url(editor_api, body, code):
    response = editor_api.post(IMPORT_URL, body, format="json")

    assert_error_response(response, 400, code)
    assert not AgentType.objects.exists()


INVALID_QUERIES = [
    ("q=%00", "q"),
    (f"q=%00{SECRET}", "q"),
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
    (f"color={SECRET}", "color"),
    ("color=", "color"),
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
    ("query", "parameter"),
    INVALID_QUERIES,
    ids=[query[:40] for query, _ in INVALID_QUERIES],
)
def test_catalog_list_rejects_invalid_parameter_and_names_it(
    viewer_api, query, parameter
):
    CatalogEntryFactory()
    response = viewer_api.get(f"{CATALOG_URL}?{query}")

    body = assert_error_response(response, 400, "INVALID_PARAMETER")
    assert body["details"] == {"parameter": parameter}
    assert_still_serving(viewer_api)


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
def test_list_accepts_unusual_parameter(viewer_api, query):
    assert viewer_api.get(f"{CATALOG_URL}?{query}").status_code == 200


def test_list_rejects_more_than_thousand_parameters(viewer_api, caplog):
    query = "&".join(["feature=x"] * 1_001)
    response = viewer_api.get(f"{CATALOG_URL}?{query}")
    # Django logs the exception that its limit raises.
    caplog.clear()

    assert_error_response(response, 400, "INVALID_PARAMETER")
    assert_still_serving(viewer_api)


@pytest.mark.parametrize(
    "path", ["?limit=1", "/card?limit=1", "/versions?limit=0", "/versions?q=x"]
)
def test_entry_endpoint_rejects_invalid_parameter(viewer_api, path):
    response = viewer_api.get(f"{entry_url(CatalogEntryFactory())}{path}")

    assert_error_response(response, 400, "INVALID_PARAMETER")


@pytest.mark.parametrize("url", ["/api/v1/kinds?q=x", "/api/v1/stats?limit=1"])
def test_kinds_and_stats_reject_parameters_they_do_not_take(viewer_api, url):
    assert_error_response(viewer_api.get(url), 400, "INVALID_PARAMETER")


def test_writes_reject_query_parameters(admin_api):
    url = f"{entry_url(CatalogEntryFactory())}?force=1"

    for response in (
        admin_api.patch(url),
        admin_api.delete(url),
        post_json(admin_api, b"{}", url),
    ):
        assert response.status_code in (400, 405)
    assert CatalogEntry.objects.exists()


INVALID_CREDENTIALS = [
    "Bearer",
    "Bearer ",
    "Bearer \xff\xfe\x80" + SECRET,
    f"Bearer \x00{SECRET}",
    f"Bearer {SECRET}\x00",
    "Bearer " + SECRET * 10_000,
    f"Bearer {SECRET} {SECRET}",
    f"Bearer {'0' * 64}",
    f"Bearer {'0' * 15}{SECRET}{SECRET}",
    f"bearer {SECRET}",
    f"Basic {SECRET}",
    f"Token {SECRET}",
    f"{SECRET}",
    f"Bearer,{SECRET}",
    " ",
]


@pytest.mark.parametrize(
    "header", INVALID_CREDENTIALS, ids=lambda header: ascii(header)[:30]
)
def test_read_with_invalid_credential_returns_401(header, viewer_api):
    client = APIClient()
    response = client.get(CATALOG_URL, HTTP_AUTHORIZATION=header)

    assert_error_response(response, 401, "NOT_AUTHENTICATED")
    assert response["WWW-Authenticate"] == "Bearer"
    assert_still_serving(viewer_api)


@pytest.mark.parametrize(
    "header", INVALID_CREDENTIALS, ids=lambda header: ascii(header)[:30]
)
def test_register_with_invalid_credential_returns_401(header):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)

    assert_error_response(post_json(client, card_bytes()), 401, "NOT_AUTHENTICATED")
    assert not AgentType.objects.exists()


@pytest.mark.parametrize(
    ("pk", "code"),
    [
        ("not-a-uuid", "ENTRY_NOT_FOUND"),
        (SECRET, "ENTRY_NOT_FOUND"),
        ("x" * 5_000, "ENTRY_NOT_FOUND"),
        ("0" * 33, "ENTRY_NOT_FOUND"),
        ("%00", "ENTRY_NOT_FOUND"),
        (f"{UNKNOWN_ID}%00", "ENTRY_NOT_FOUND"),
        ("%0A", "ENTRY_NOT_FOUND"),
        ("%F0%9F%98%80", "ENTRY_NOT_FOUND"),
        ("%FF", "ENTRY_NOT_FOUND"),
        ("%20", "ENTRY_NOT_FOUND"),
        ("'%20OR%201=1", "ENTRY_NOT_FOUND"),
        ("..", "NOT_FOUND"),
        ("%2E%2E%2Fkinds", "NOT_FOUND"),
        ("a%2Fb", "NOT_FOUND"),
        ("", "NOT_FOUND"),
        (f"{UNKNOWN_ID}/nope", "NOT_FOUND"),
        (f"{UNKNOWN_ID}/card/", "NOT_FOUND"),
    ],
    ids=lambda value: value[:30],
)
def test_entry_with_invalid_id_returns_404(viewer_api, pk, code):
    assert_error_response(viewer_api.get(f"{CATALOG_URL}/{pk}"), 404, code)
    assert_still_serving(viewer_api)
