"""Snippets of how to connect, on an agent's page."""

import json

import pytest
from playwright.sync_api import expect

from tests.registered_agents import agent_card, register_agent

from .pages import LONG_TEXT, scrolls_horizontally

pytestmark = pytest.mark.e2e

LONG_URL = "https://far.example.com/" + "away/" * 60
CUT_OFF_SNIPPETS = """
[...document.querySelectorAll(".snippet pre")]
  .filter(element => element.scrollWidth > element.clientWidth).length
"""
OPEN_DETAILS = "document.querySelectorAll('details').forEach(item => item.open = true)"


def register_server():
    package = {
        "registryType": "npm",
        "identifier": "weather",
        "version": "1.2.3",
        "packageArguments": [{"type": "positional", "value": LONG_TEXT}],
        "environmentVariables": [{"name": "KEY", "isRequired": True, "isSecret": True}],
    }
    remote = {"type": "sse", "url": LONG_URL}
    return register_agent(
        {"name": "io.example/weather", "packages": [package], "remotes": [remote]}
    )


def register_tenant():
    interfaces = [
        {"url": LONG_URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "a.example:1", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
    ]
    interfaces[0]["tenant"] = LONG_TEXT
    return register_agent(
        agent_card("Polyglot", "Translate", supportedInterfaces=interfaces)
    )


@pytest.mark.parametrize("register", [register_server, register_tenant])
@pytest.mark.parametrize("width", [390, 1280])
def test_snippets_wrap_and_pass_axe_t8(open_as, check_accessibility, register, width):
    entry = register()
    page = open_as(viewport={"width": width, "height": 800})
    page.goto(f"/catalog/{entry.pk}")
    page.evaluate(OPEN_DETAILS)

    assert page.locator(".snippet pre").count() > 1
    assert page.evaluate(CUT_OFF_SNIPPETS) == 0
    assert not scrolls_horizontally(page)
    check_accessibility(page, f"{register.__name__} {width}")


def test_configuration_of_each_client_is_opened_by_keyboard_and_copied(open_as):
    entry = register_server()
    page = open_as(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/catalog/{entry.pk}")
    connect = page.get_by_role("region", name="How to connect")
    vs_code = connect.locator("details").filter(has_text=".vscode/mcp.json").last
    expect(vs_code.locator("pre")).to_be_hidden()

    vs_code.locator("summary").focus()
    page.keyboard.press("Enter")
    vs_code.get_by_role("button", name="Copy").click()
    expect(vs_code.get_by_role("button", name="Copied")).to_be_focused()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["servers"]["weather"]["env"] == {"KEY": "${input:KEY}"}


def test_configurations_are_displayed_without_javascript(open_as):
    entry = register_server()
    page = open_as(java_script_enabled=False)
    page.goto(f"/catalog/{entry.pk}")

    expect(page.locator(".snippet pre").first).to_be_visible()
    page.get_by_text(".cursor/mcp.json").first.click()
    expect(page.locator(".snippet pre").nth(2)).to_be_visible()
