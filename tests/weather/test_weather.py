"""Another app adds a kind and a protocol: nothing of the catalog's changes for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import AppConfig

from capabilities.kinds import discoverable_kinds, kinds
from capabilities.parsers import parsers

STATION = {
    "station": "Śnieżka",
    "address": "https://sniezka.example.org/weather",
    "forecasts": [{"name": "Snow", "regions": ["Karkonosze"]}],
}


@pytest.fixture
def weather():
    """The app made ready, as Django does it, until the test ends."""
    with kinds.temporarily(), parsers.temporarily():
        AppConfig.create("tests.weather").ready()
        yield


def test_the_kind_is_discoverable(weather):
    assert "weather.forecast" in discoverable_kinds()


def test_its_definitions_are_recognised_catalogued_and_found(weather, editor):
    made = editor.post("/api/v1/catalog/register", STATION, format="json")
    found = editor.get("/api/v1/catalog", {"q": "karkonosze", "protocol": "weather"})
    offering = editor.get("/api/v1/catalog", {"kind": "weather.forecast"})

    assert (made.status_code, made.json()["protocol"]) == (201, "weather")
    assert made.json()["capabilities"] == [
        {
            "kind": "weather.forecast",
            "name": "Snow",
            "description": "",
            "regions": ["Karkonosze"],
        }
    ]
    assert [item["display_name"] for item in found.json()["items"]] == ["Śnieżka"]
    assert offering.json()["total"] == 1


def test_its_kind_is_listed_by_the_api(weather, viewer):
    items = viewer.get("/api/v1/kinds").json()["items"]

    assert {
        "slug": "weather.forecast",
        "label": "Forecast",
        "protocol": "weather",
        "discoverable": True,
    } in items


def test_its_errors_have_paths_too(weather, editor):
    faulty = STATION | {"forecasts": [{}], "address": "javascript:alert(1)"}
    answer = editor.post("/api/v1/catalog/validate", faulty, format="json").json()

    paths = {error["path"] for error in answer["errors"]}
    assert {"$.forecasts[0].name", "$.address"} <= paths


def test_a_project_that_installs_the_app_starts_with_it():
    code = (
        "import django; django.setup();"
        "from capabilities.parsers import parsers; print(parsers.get('weather').label)"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.weather.settings"}
    started = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert started.stdout.strip() == "Weather station"


def test_the_guide_has_this_very_parser():
    root = Path(__file__).parent.parent.parent
    guide = (root / "docs" / "add-a-protocol.md").read_text("utf-8")

    assert Path(__file__).with_name("protocol.py").read_text("utf-8") in guide
