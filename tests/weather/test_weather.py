"""A third-party app that adds a protocol and a kind to the catalog."""

import os
import subprocess
import sys
from pathlib import Path

from capabilities.kinds import discoverable_kinds

STATION = {
    "station": "Śnieżka",
    "address": "https://sniezka.example.org/weather",
    "forecasts": [{"name": "Snow", "regions": ["Karkonosze"]}],
}


def test_kind_of_app_is_discoverable(weather):
    assert "weather.forecast" in discoverable_kinds()


def test_definition_is_detected_registered_and_found(weather, editor_api):
    registered = editor_api.post("/api/v1/catalog/register", STATION, format="json")
    matches = editor_api.get(
        "/api/v1/catalog", {"q": "karkonosze", "protocol": "weather"}
    )
    offers = editor_api.get("/api/v1/catalog", {"kind": "weather.forecast"})

    assert (registered.status_code, registered.json()["protocol"]) == (201, "weather")
    assert registered.json()["capabilities"] == [
        {
            "kind": "weather.forecast",
            "name": "Snow",
            "description": "",
            "regions": ["Karkonosze"],
        }
    ]
    assert [item["display_name"] for item in matches.json()["items"]] == ["Śnieżka"]
    assert offers.json()["total"] == 1


def test_kinds_api_lists_kind_of_app(weather, viewer_api):
    items = viewer_api.get("/api/v1/kinds").json()["items"]

    assert {
        "slug": "weather.forecast",
        "label": "Forecast",
        "protocol": "weather",
        "discoverable": True,
    } in items


def test_validation_errors_have_paths(weather, editor_api):
    invalid = STATION | {"forecasts": [{}], "address": "javascript:alert(1)"}
    response = editor_api.post("/api/v1/catalog/validate", invalid, format="json")

    paths = {error["path"] for error in response.json()["errors"]}
    assert {"$.forecasts[0].name", "$.address"} <= paths


def test_installed_app_registers_parser_at_startup():
    code = (
        "import django; django.setup();"
        "from capabilities.parsers import parsers; print(parsers.get('weather').label)"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.weather.settings"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "Weather station"


def test_guide_contains_parser_verbatim():
    root = Path(__file__).parent.parent.parent
    guide = (root / "docs" / "add-a-protocol.md").read_text("utf-8")

    assert Path(__file__).with_name("protocol.py").read_text("utf-8") in guide
