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

from .entries import CATALOG_URL, IMPORT_URL, REGISTER_URL, VALIDATE_URL

pytestmark = pytest.mark.django_db

CONFIG_FILES = Path(__file__).parents[2] / "data/config"
PARSE_RESULT_MEMBERS = [
    "valid",
    "protocol",
    "spec_version",
    "errors",
    "warnings",
    "preview",
]
MODELS = (AgentType, Capability, CatalogEntry, DefinitionChange, EntryText, Provider)
MCP_SERVER_JSON = {
    "name": "com.example/weather",
    "version": "1.0.0",
    "description": "Weather",
    "$schema": "https://static.modelcontextprotocol.io/schemas/x/server.schema.json",
}


def post_raw(client, url: str, raw: bytes, media_type: str = "application/json"):
    return client.generic("POST", url, raw, content_type=media_type)


def count_rows() -> int:
    return sum(model.objects.count() for model in MODELS)


def error_paths(url: str, body: dict) -> list[str]:
    """Return the paths of the errors in a response of register or validate."""
    errors = body["errors"] if url == VALIDATE_URL else body["details"]["errors"]
    return [error["path"] for error in errors]


def test_register_creates_entry_and_returns_its_url(editor_api):
    response = post_raw(editor_api, REGISTER_URL, card_bytes())

    body = response.json()
    entry = CatalogEntry.objects.get()
    assert response.status_code == 201
    assert urlsplit(response["Location"]).path == f"{CATALOG_URL}/{entry.pk}"
    assert (body["outcome"], body["id"]) == ("created", str(entry.pk))
    assert body["changes"] == {
        "added": [],
        "removed": [],
        "changed": [],
        "fields": [],
        "breaking": False,
        "breaking_count": 0,
        "breaking_reasons": [],
    }
    assert body["warnings"] == []


def test_register_returns_same_entry_as_its_url(editor_api):
    response = post_raw(editor_api, REGISTER_URL, card_bytes())
    stored = editor_api.get(response["Location"]).json()

    entry = {key: value for key, value in response.json().items() if key in stored}
    assert entry == stored
    assert base64.b64decode(stored["raw_definition"]) == card_bytes()


def test_register_same_definition_again_changes_nothing(editor_api):
    first = post_raw(editor_api, REGISTER_URL, card_bytes()).json()
    second = post_raw(editor_api, REGISTER_URL, card_bytes())

    assert (second.status_code, second.json()["outcome"]) == (200, "unchanged")
    assert second.json()["id"] == first["id"]
    assert "Location" not in second
    assert CatalogEntry.objects.count() == AgentType.objects.count() == 1


def test_register_new_version_updates_entry_and_keeps_old_version(editor_api):
    first = post_raw(editor_api, REGISTER_URL, card_bytes(version="1.0.0")).json()
    updated = card_bytes(version="2.0.0", skills=[skill("Summarize")])
    response = post_raw(editor_api, REGISTER_URL, updated)

    body = response.json()
    assert (response.status_code, body["outcome"]) == (200, "updated")
    assert (body["id"], body["version"]) == (first["id"], "2.0.0")
    assert body["changes"]["added"] == [
        {"kind": "a2a.skill", "name": "Summarize", "breaking": False}
    ]
    assert body["changes"]["removed"] == [
        {"kind": "a2a.skill", "name": "Translate text", "breaking": True}
    ]
    versions = editor_api.get(f"{CATALOG_URL}/{body['id']}/versions").json()
    assert [item["version"] for item in versions["items"]] == ["2.0.0", "1.0.0"]


def test_register_returns_warnings(editor_api):
    body = post_raw(editor_api, REGISTER_URL, card_bytes(mood="sunny")).json()

    assert body["warnings"] == [
        {
            "path": "$.mood",
            "message": "is an unknown member; stored, but not interpreted",
        }
    ]


def test_register_rejects_invalid_definition_with_every_error(editor_api):
    raw = card_bytes(name="", skills=[skill(), {"id": "nameless"}], mood="sunny")
    response = post_raw(editor_api, REGISTER_URL, raw)
    body = assert_error_response(response, 422, "INVALID_DEFINITION")

    paths = error_paths(REGISTER_URL, body)
    assert {"$.name", "$.skills[1].name"} <= set(paths)
    assert body["details"]["protocol"] == "a2a"
    assert {"path", "message"} == set(body["details"]["errors"][0])
    assert "$.mood" in [warning["path"] for warning in body["details"]["warnings"]]
    assert count_rows() == 0


def test_register_rejects_unknown_protocol_and_says_what_is_needed(editor_api):
    response = post_raw(editor_api, REGISTER_URL, b'{"hello": "world"}')
    body = assert_error_response(response, 422, "PROTOCOL_NOT_DETECTED")

    (error,) = body["details"]["errors"]
    assert error["path"] == "$"
    assert "a supported protocol (A2A, MCP, AG-UI, AGH" in error["message"]
    assert body["details"]["protocol"] == ""


@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL])
def test_protocol_parameter_selects_parser(editor_api, url):
    raw = json.dumps(MCP_SERVER_JSON).encode()

    selected = post_raw(editor_api, f"{url}?protocol=mcp", raw).json()
    detected = post_raw(editor_api, f"{url}?protocol=", raw).json()
    assert selected["protocol"] == detected["protocol"] == "mcp"
    assert post_raw(editor_api, f"{url}?protocol=a2a", raw).status_code == 422


@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL])
@pytest.mark.parametrize("protocol", ["soap", "A2A", "a2a,mcp", "%00"])
def test_unknown_protocol_parameter_returns_400(editor_api, url, protocol):
    response = post_raw(editor_api, f"{url}?protocol={protocol}", card_bytes())
    body = assert_error_response(response, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": "protocol"}
    assert body["error"].startswith("protocol must be one of: a2a, mcp")


def test_rejection_contains_requested_protocol(editor_api):
    raw = json.dumps(MCP_SERVER_JSON).encode()
    response = post_raw(editor_api, f"{REGISTER_URL}?protocol=a2a", raw)

    body = assert_error_response(response, 422, "INVALID_DEFINITION")
    assert body["details"]["protocol"] == "a2a"


def test_validate_returns_preview_and_stores_nothing(viewer_api):
    response = post_raw(viewer_api, VALIDATE_URL, card_bytes(mood="sunny"))

    body = response.json()
    assert (response.status_code, list(body)) == (200, PARSE_RESULT_MEMBERS)
    assert body["valid"] is True
    assert (body["protocol"], body["spec_version"]) == ("a2a", "1.0")
    assert body["errors"] == []
    assert [warning["path"] for warning in body["warnings"]] == ["$.mood"]
    assert count_rows() == 0


def test_preview_equals_registered_entry(editor_api):
    preview = post_raw(editor_api, VALIDATE_URL, card_bytes()).json()["preview"]
    entry = post_raw(editor_api, REGISTER_URL, card_bytes()).json()

    capabilities = preview.pop("capabilities")
    assert preview.items() <= entry.items()
    counts = entry["capability_count"], entry["technical_count"]
    assert len(capabilities) == sum(counts)
    assert len([row for row in capabilities if row["kind"] == "a2a.skill"]) == counts[0]
    assert all(capability in entry["capabilities"] for capability in capabilities)


def test_preview_without_provider_has_null(viewer_api):
    body = post_raw(viewer_api, VALIDATE_URL, card_bytes(provider=None)).json()

    assert body["preview"]["provider"] is None


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
def test_validate_returns_same_members_for_invalid_definition(
    viewer_api, raw, protocol, path
):
    response = post_raw(viewer_api, VALIDATE_URL, raw)

    body = response.json()
    assert (response.status_code, list(body)) == (422, PARSE_RESULT_MEMBERS)
    assert (body["valid"], body["protocol"], body["preview"]) == (False, protocol, None)
    assert path in error_paths(VALIDATE_URL, body)
    assert count_rows() == 0


@pytest.mark.parametrize(
    "raw", [card_bytes(skills=[{}]), b'{"hello": "world"}', b"not json", b""]
)
def test_register_and_validate_return_same_errors(editor_api, raw):
    parse_result = post_raw(editor_api, VALIDATE_URL, raw).json()
    error = post_raw(editor_api, REGISTER_URL, raw).json()

    assert error["details"]["errors"] == parse_result["errors"]
    assert error["details"]["warnings"] == parse_result["warnings"]


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
@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL])
def test_definition_is_accepted_with_media_type(editor_api, url, media_type):
    response = post_raw(editor_api, url, card_bytes(), media_type)

    assert response.status_code in (200, 201)


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
@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL])
def test_definition_with_other_media_type_returns_415(editor_api, url, media_type):
    response = post_raw(editor_api, url, card_bytes(), media_type)
    body = assert_error_response(response, 415, "UNSUPPORTED_MEDIA_TYPE")

    assert body["error"].endswith("Send application/json.")
    assert count_rows() == 0


@pytest.mark.parametrize("media_type", ["text/markdown", "application/yaml"])
def test_configuration_agent_is_registered_from_front_matter(editor_api, media_type):
    raw = (CONFIG_FILES / "data_analyzer.md").read_bytes()
    response = post_raw(editor_api, REGISTER_URL, raw, media_type)

    body = response.json()
    assert (response.status_code, body["warnings"]) == (201, [])
    assert (body["protocol"], body["source"]) == ("config", "config")
    assert (body["endpoint"], body["status"]) == ("config:DataAnalyzer", "active")
    assert body["declared"] is True
    assert body["capabilities"][1] == {
        "kind": "config.capability",
        "name": "report-generation",
        "description": "",
        "metadata": {"formats": ["pdf", "html", "json"], "template_support": True},
    }
    search = editor_api.get(
        "/api/v1/capabilities?kind=config.capability&q=report"
    ).json()
    assert [item["agent_name"] for item in search["items"]] == ["DataAnalyzer"]


def test_card_of_configuration_agent_is_its_exact_text(editor_api):
    raw = b"\xef\xbb\xbf---\r\nname: X\r\ncapabilities: [a]\r\n---\r\nPrompt"
    entry = post_raw(editor_api, REGISTER_URL, raw, "text/plain").json()
    card = editor_api.get(f"{CATALOG_URL}/{entry['id']}/card")

    assert (card.content, card["Content-Type"]) == (raw, "text/plain; charset=utf-8")
    assert card["X-Content-Type-Options"] == "nosniff"


def test_removed_configuration_capability_is_breaking(editor_api):
    original = b"---\nname: X\ncapabilities: [a, b]\n---\n"
    post_raw(editor_api, REGISTER_URL, original, "text/yaml")
    updated = b"---\nname: X\ncapabilities: [b]\n---\n"
    body = post_raw(editor_api, REGISTER_URL, updated, "text/yaml").json()

    assert body["outcome"] == "updated"
    removed = {"kind": "config.capability", "name": "a", "breaking": True}
    assert body["changes"]["removed"] == [removed]


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
@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL])
def test_invalid_front_matter_is_rejected_with_path(editor_api, url, raw, path):
    response = post_raw(editor_api, url, raw, "text/plain")

    assert response.status_code == 422
    assert path in error_paths(url, response.json())
    assert count_rows() == 0


def test_patch_rejects_front_matter(editor_api):
    entry = post_raw(editor_api, REGISTER_URL, card_bytes()).json()
    url = f"{CATALOG_URL}/{entry['id']}"
    body = b"---\ndisplay_name: X\n---\n"
    response = editor_api.generic("PATCH", url, body, content_type="application/json")

    assert_error_response(response, 400, "INVALID_BODY")


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/a2a+json", "application/yaml"]
)
def test_patch_accepts_only_json_media_type(editor_api, media_type):
    entry = post_raw(editor_api, REGISTER_URL, card_bytes()).json()
    url = f"{CATALOG_URL}/{entry['id']}"
    response = editor_api.generic("PATCH", url, b"{}", content_type=media_type)

    assert_error_response(response, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_documented_example_can_be_registered_without_warnings(editor_api):
    response = post_raw(editor_api, REGISTER_URL, json.dumps(CARD).encode())

    assert (response.status_code, response.json()["warnings"]) == (201, [])


@pytest.mark.parametrize("url", [REGISTER_URL, VALIDATE_URL, IMPORT_URL])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_methods_than_post_return_405(admin_api, url, method):
    response = admin_api.generic(method, url)

    assert_error_response(response, 405, "METHOD_NOT_ALLOWED")
    assert response["Allow"] == "POST"
