import base64
import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from catalog.api.examples import CARD
from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    EntryText,
    Provider,
)
from tests.api_errors import assert_error_response
from tests.factories import card_bytes, skill

pytestmark = pytest.mark.django_db

CONFIG = Path(__file__).parents[2] / "data/config"
REGISTER = "/api/v1/catalog/register"
VALIDATE = "/api/v1/catalog/validate"
READING = ["valid", "protocol", "spec_version", "errors", "warnings", "preview"]
TABLES = (AgentType, Capability, CatalogEntry, DefinitionChange, EntryText, Provider)
SERVER = {
    "name": "com.example/weather",
    "version": "1.0.0",
    "description": "Weather",
    "$schema": "https://static.modelcontextprotocol.io/schemas/x/server.schema.json",
}


def post(client, place: str, raw: bytes, media_type: str = "application/json"):
    return client.generic("POST", place, raw, content_type=media_type)


def stored() -> int:
    return sum(table.objects.count() for table in TABLES)


def test_a_new_agent_is_created_and_its_place_told(editor):
    answer = post(editor, REGISTER, card_bytes())

    body = answer.json()
    entry = CatalogEntry.objects.get()
    assert answer.status_code == 201
    assert urlsplit(answer["Location"]).path == f"/api/v1/catalog/{entry.pk}"
    assert (body["outcome"], body["id"]) == ("created", str(entry.pk))
    assert body["changes"] == {"added": [], "removed": [], "changed": []}
    assert body["warnings"] == []


def test_the_answer_is_the_entry_as_it_can_be_read_there(editor):
    answer = post(editor, REGISTER, card_bytes())
    read = editor.get(answer["Location"]).json()

    told = {key: value for key, value in answer.json().items() if key in read}
    assert told == read
    assert base64.b64decode(read["raw_definition"]) == card_bytes()


def test_the_same_again_is_unchanged_and_still_one_entry(editor):
    first = post(editor, REGISTER, card_bytes()).json()
    again = post(editor, REGISTER, card_bytes())

    assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")
    assert again.json()["id"] == first["id"]
    assert "Location" not in again
    assert CatalogEntry.objects.count() == AgentType.objects.count() == 1


def test_a_new_version_updates_the_entry_and_both_are_listed(editor):
    first = post(editor, REGISTER, card_bytes(version="1.0.0")).json()
    newer = card_bytes(version="2.0.0", skills=[skill("Summarise")])
    answer = post(editor, REGISTER, newer)

    body = answer.json()
    assert (answer.status_code, body["outcome"]) == (200, "updated")
    assert (body["id"], body["version"]) == (first["id"], "2.0.0")
    assert body["changes"]["added"] == [{"kind": "a2a.skill", "name": "Summarise"}]
    assert body["changes"]["removed"] == [
        {"kind": "a2a.skill", "name": "Translate text", "breaking": True}
    ]
    versions = editor.get(f"/api/v1/catalog/{body['id']}/versions").json()
    assert [item["version"] for item in versions["items"]] == ["2.0.0", "1.0.0"]


def test_warnings_come_with_the_entry(editor):
    answer = post(editor, REGISTER, card_bytes(mood="sunny")).json()

    assert answer["warnings"] == [
        {"path": "$.mood", "message": "unknown member; stored, but not interpreted"}
    ]


def test_a_faulty_definition_is_refused_with_every_error_at_its_path(editor):
    raw = card_bytes(name="", skills=[skill(), {"id": "nameless"}], mood="sunny")
    body = assert_error_response(post(editor, REGISTER, raw), 422, "INVALID_DEFINITION")

    paths = [problem["path"] for problem in body["details"]["errors"]]
    assert {"$.name", "$.skills[1].name"} <= set(paths)
    assert body["details"]["protocol"] == "a2a"
    assert {"path", "message"} == set(body["details"]["errors"][0])
    assert "$.mood" in [warning["path"] for warning in body["details"]["warnings"]]
    assert stored() == 0


def test_a_document_nobody_knows_is_refused_with_what_would_be_known(editor):
    answer = post(editor, REGISTER, b'{"hello": "world"}')
    body = assert_error_response(answer, 422, "PROTOCOL_NOT_DETECTED")

    (error,) = body["details"]["errors"]
    assert error["path"] == "$"
    assert "A2A (an agent card needs" in error["message"]
    assert body["details"]["protocol"] == ""


@pytest.mark.parametrize("place", [REGISTER, VALIDATE])
def test_the_protocol_may_be_given(editor, place):
    raw = json.dumps(SERVER).encode()

    assert post(editor, f"{place}?protocol=mcp", raw).json()["protocol"] == "mcp"
    assert post(editor, f"{place}?protocol=", raw).json()["protocol"] == "mcp"
    assert post(editor, f"{place}?protocol=a2a", raw).status_code == 422


@pytest.mark.parametrize("place", [REGISTER, VALIDATE])
@pytest.mark.parametrize("protocol", ["soap", "A2A", "a2a,mcp", "%00"])
def test_a_protocol_nobody_knows_is_a_bad_parameter(editor, place, protocol):
    answer = post(editor, f"{place}?protocol={protocol}", card_bytes())
    body = assert_error_response(answer, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": "protocol"}
    assert body["error"].startswith("protocol must be one of: a2a, mcp")


def test_a_given_protocol_is_told_in_the_refusal(editor):
    answer = post(editor, f"{REGISTER}?protocol=a2a", json.dumps(SERVER).encode())

    body = assert_error_response(answer, 422, "INVALID_DEFINITION")
    assert body["details"]["protocol"] == "a2a"


def test_validate_previews_and_stores_nothing(viewer):
    answer = post(viewer, VALIDATE, card_bytes(mood="sunny"))

    body = answer.json()
    assert (answer.status_code, list(body)) == (200, READING)
    assert (body["valid"], body["protocol"], body["spec_version"]) == (
        True,
        "a2a",
        "1.0",
    )
    assert body["errors"] == []
    assert [warning["path"] for warning in body["warnings"]] == ["$.mood"]
    assert stored() == 0


def test_a_preview_says_what_registering_would(editor):
    preview = post(editor, VALIDATE, card_bytes()).json()["preview"]
    entry = post(editor, REGISTER, card_bytes()).json()

    capabilities = preview.pop("capabilities")
    assert preview.items() <= entry.items()
    assert len(capabilities) == entry["capability_count"]
    assert all(capability in entry["capabilities"] for capability in capabilities)


def test_a_preview_without_a_provider_says_null(viewer):
    preview = post(viewer, VALIDATE, card_bytes(provider=None)).json()["preview"]

    assert preview["provider"] is None


@pytest.mark.parametrize(
    ("raw", "protocol", "path"),
    [
        (card_bytes(skills=[{}]), "a2a", "$.skills[0].name"),
        (b'{"hello": "world"}', "", "$"),
        (b"not json", "", "$"),
        (b"", "", "$"),
        (b"\xff", "", "$"),
    ],
)
def test_validate_has_one_shape_for_good_and_bad(viewer, raw, protocol, path):
    answer = post(viewer, VALIDATE, raw)

    body = answer.json()
    assert (answer.status_code, list(body)) == (422, READING)
    assert (body["valid"], body["protocol"], body["preview"]) == (False, protocol, None)
    assert path in [error["path"] for error in body["errors"]]
    assert stored() == 0


@pytest.mark.parametrize(
    "raw", [card_bytes(skills=[{}]), b'{"hello": "world"}', b"not json", b""]
)
def test_register_refuses_with_the_errors_of_validate(editor, raw):
    validated = post(editor, VALIDATE, raw).json()
    refused = post(editor, REGISTER, raw).json()

    assert refused["details"]["errors"] == validated["errors"]
    assert refused["details"]["warnings"] == validated["warnings"]


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "text/plain",
        "text/plain; charset=utf-8",
        "application/a2a+json",
        "application/mcp-server-card+json",
        "application/yaml",
        "text/yaml",
        "application/toml",
        "text/markdown; charset=utf-8",
    ],
)
@pytest.mark.parametrize("place", [REGISTER, VALIDATE])
def test_a_definition_may_come_as(editor, place, media_type):
    assert post(editor, place, card_bytes(), media_type).status_code in (200, 201)


@pytest.mark.parametrize(
    "media_type",
    [
        "application/xml",
        "text/html",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/octet-stream",
        "nonsense",
        "",
    ],
)
@pytest.mark.parametrize("place", [REGISTER, VALIDATE])
def test_a_definition_may_not_come_as(editor, place, media_type):
    answer = post(editor, place, card_bytes(), media_type)
    body = assert_error_response(answer, 415, "UNSUPPORTED_MEDIA_TYPE")

    assert body["error"].endswith("Send application/json.")
    assert stored() == 0


@pytest.mark.parametrize("media_type", ["text/markdown", "application/yaml"])
def test_a_configuration_agent_is_registered_by_its_own_text(editor, media_type):
    raw = (CONFIG / "data_analyzer.md").read_bytes()
    answer = post(editor, REGISTER, raw, media_type)

    body = answer.json()
    assert (answer.status_code, body["warnings"]) == (201, [])
    assert (body["protocol"], body["source"]) == ("config", "config")
    assert (body["endpoint"], body["status"]) == ("config:DataAnalyzer", "active")
    assert body["declared"] is True
    assert body["capabilities"][1] == {
        "kind": "config.capability",
        "name": "report-generation",
        "description": "",
        "metadata": {"formats": ["pdf", "html", "json"], "template_support": True},
    }
    found = editor.get("/api/v1/capabilities?kind=config.capability&q=report").json()
    assert [item["agent_name"] for item in found["items"]] == ["DataAnalyzer"]


def test_its_card_is_its_text_to_the_byte(editor):
    raw = b"\xef\xbb\xbf---\r\nname: X\r\ncapabilities: [a]\r\n---\r\nPrompt"
    entry = post(editor, REGISTER, raw, "text/plain").json()
    card = editor.get(f"/api/v1/catalog/{entry['id']}/card")

    assert (card.content, card["Content-Type"]) == (raw, "text/plain; charset=utf-8")
    assert card["X-Content-Type-Options"] == "nosniff"


def test_a_capability_that_is_dropped_breaks_those_who_relied_on_it(editor):
    post(editor, REGISTER, b"---\nname: X\ncapabilities: [a, b]\n---\n", "text/yaml")
    fewer = b"---\nname: X\ncapabilities: [b]\n---\n"
    body = post(editor, REGISTER, fewer, "text/yaml").json()

    assert body["outcome"] == "updated"
    gone = {"kind": "config.capability", "name": "a", "breaking": True}
    assert body["changes"]["removed"] == [gone]


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"---\nname: X\ncapabilities: [a, B]\n---\n", "$.capabilities[1]"),
        (b"---\nname: X\ncapabilities: [&a a]\n---\n", "$"),
        (b"---\nname: X\ncapabilities: !!python/tuple [a]\n---\n", "$"),
        (b'+++\nname = "X"\ncapabilities = ["a", 1]\n+++\n', "$.capabilities[1]"),
        (b"---\nname: " + b"[" * 60_000, "$.name" + "[0]" * 63),
        (b"name = " + b"[" * 60_000, "$"),
        (b"a." * 30_000 + b"a = 1", "$"),
        (b"---\n" + b"a: 1\n" * 20_000, "$"),
    ],
    ids=lambda value: repr(value[:24]),
)
@pytest.mark.parametrize("place", [REGISTER, VALIDATE])
def test_hostile_front_matter_is_refused_at_its_path(editor, place, raw, path):
    answer = post(editor, place, raw, "text/plain")

    assert answer.status_code == 422
    body = answer.json()
    told = body["errors"] if place == VALIDATE else body["details"]["errors"]
    assert path in [error["path"] for error in told]
    assert stored() == 0


def test_front_matter_is_no_body_for_anything_else(editor):
    entry = post(editor, REGISTER, card_bytes()).json()
    place = f"/api/v1/catalog/{entry['id']}"
    body = b"---\ndisplay_name: X\n---\n"
    answer = editor.generic("PATCH", place, body, content_type="application/json")

    assert_error_response(answer, 400, "INVALID_BODY")


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/a2a+json", "application/yaml"]
)
def test_only_definitions_come_as_anything_but_json(editor, media_type):
    entry = post(editor, REGISTER, card_bytes()).json()
    place = f"/api/v1/catalog/{entry['id']}"
    answer = editor.generic("PATCH", place, b"{}", content_type=media_type)

    assert_error_response(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_documented_example_can_be_registered(editor):
    answer = post(editor, REGISTER, json.dumps(CARD).encode())

    assert (answer.status_code, answer.json()["warnings"]) == (201, [])


@pytest.mark.parametrize("place", [REGISTER, VALIDATE, "/api/v1/catalog/import"])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_there_is_only_posting_here(admin, place, method):
    answer = admin.generic(method, place)

    assert_error_response(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer["Allow"] == "POST"
