"""How to connect: the section of an agent's page."""

import json

import pytest

from capabilities.parsers import CONNECTION_ERROR, parsers
from catalog.registration.service import register
from tests.registered_agents import agent_card, register_agent
from tests.weather.protocol import WeatherParser

pytestmark = pytest.mark.django_db


def get_page(client, entry) -> str:
    response = client.get(f"/catalog/{entry.pk}")
    assert response.status_code == 200
    return response.content.decode()


class BrokenParser(WeatherParser):
    """A parser with a bug in its connections."""

    def build_connection(self, document, record):
        raise TypeError("unhashable type: 'list'")


def test_page_is_displayed_although_its_connection_fails_t6(
    weather, viewer_client, log_output
):
    station = {
        "station": "Snow Hill",
        "address": "https://snow.example",
        "forecasts": [{"name": "Snow", "regions": []}],
    }
    entry = register_agent(station)
    with parsers.temporarily(BrokenParser()):
        page = get_page(viewer_client, entry)

    assert CONNECTION_ERROR in page
    assert "unhashable type: &#x27;list&#x27;" not in page
    assert "TypeError: unhashable type: 'list'" in log_output.getvalue()


@pytest.mark.parametrize("key", ["registryType", "registry_name", "identifier"])
@pytest.mark.parametrize("value", [["npm"], {"npm": 1}])
def test_page_of_package_with_wrong_types_is_displayed_t6(viewer_client, key, value):
    package = {"registryType": "npm", "identifier": "weather", key: value}
    document = {"name": "io.example/weather", "packages": [package]}

    page = get_page(viewer_client, register_agent(document))
    assert CONNECTION_ERROR not in page


def test_page_has_a_snippet_for_each_client(viewer_client):
    document = {
        "name": "io.example/weather",
        "remotes": [{"type": "sse", "url": "https://weather.example/sse"}],
        "packages": [{"registryType": "mcpb", "identifier": "https://a.example/b"}],
    }
    page = get_page(viewer_client, register_agent(document))

    for text in (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", "MCP bundle"):
        assert text in page
    assert page.count('class="language-json"') == 4


def test_page_lists_credentials_and_settings(viewer_client):
    variables = [
        {"name": "KEY", "isRequired": True, "isSecret": True},
        {"name": "REGION", "default": "<north>"},
    ]
    package = {"registryType": "npm", "identifier": "weather"}
    package["environmentVariables"] = variables
    document = {"name": "io.example/weather", "packages": [package]}
    page = get_page(viewer_client, register_agent(document))

    assert "Environment variable KEY (required, secret)" in page
    assert "Environment variable REGION (optional, default &lt;north&gt;)" in page
    assert "None declared" not in page


def test_page_of_agent_card_has_one_command(viewer_client):
    page = get_page(viewer_client, register_agent(agent_card("Polyglot", "Translate")))

    assert page.count('class="language-sh"') == 1
    assert "<summary>\n          Command" not in page


def test_envelope_of_agh_peer_is_accepted_as_displayed_t20(viewer_client, viewer_api):
    card = {
        "peer_id": "designer",
        "channel": "builders",
        "display_name": "Designer",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": [],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
    }
    entry = register(json.dumps(card).encode()).entry
    response = viewer_client.get(f"/catalog/{entry.pk}")
    (snippet,) = response.context["connection"].snippets

    answer = viewer_api.post(
        "/api/v1/agh/envelopes", snippet.text, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
