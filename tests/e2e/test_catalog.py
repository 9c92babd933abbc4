"""The catalog page and the page of an agent."""

import re

import pytest
from playwright.sync_api import expect

from catalog.models import Status
from tests.registered_agents import agent_card, mcp_definition, register_agent

pytestmark = pytest.mark.e2e


def expect_agents(page, *names):
    expect(page.locator(".agent h2")).to_have_text(names)


def test_filters_show_counts_of_current_search(open_as):
    register_agent(agent_card("Polyglot", "Translate text"))
    register_agent(agent_card("Babel", "Translate text"), Status.OFFLINE)
    register_agent(mcp_definition("Stacks", "search_documents"))
    page = open_as()
    page.goto("/catalog")
    expect_agents(page, "Babel", "Polyglot", "Stacks")
    protocols = page.get_by_role("group", name="Protocol").locator(".chip")
    expect(protocols).to_contain_text(["All 3", "A2A 2", "MCP 1"])

    page.get_by_role("searchbox").fill("TRANSLATE")
    expect_agents(page, "Babel", "Polyglot")
    expect(protocols).to_contain_text(["All 2", "A2A 2", "MCP 0"])
    page.get_by_label("Offline 1").check()
    expect_agents(page, "Babel")
    expect(page.get_by_label("Offline 1")).to_be_focused()
    expect(page).to_have_url(re.compile(r"\?q=TRANSLATE&status=offline$"))
    page.reload()
    expect_agents(page, "Babel")

    page.get_by_label("MCP 0").check()
    expect(page.get_by_role("heading", level=2)).to_have_text("No agents found")
    page.get_by_role("link", name="Clear filters").click()
    expect_agents(page, "Babel", "Polyglot", "Stacks")


def test_pagination_and_sorting_survive_going_back(open_as):
    for n in range(26):
        register_agent(agent_card(f"Agent {n:02}", "Translate text"))
    page = open_as()
    page.goto("/catalog")
    expect(page.locator(".agent")).to_have_count(24)
    page.get_by_role("button", name="Next").click()
    expect_agents(page, "Agent 24", "Agent 25")
    page.get_by_label("Sort").focus()
    page.get_by_label("Sort").select_option("Newest first")
    expect(page.locator(".agent h2").first).to_have_text("Agent 25")
    expect(page).to_have_url(re.compile(r"\?sort=createdAt_desc$"))
    expect(page.get_by_label("Sort")).to_be_focused()

    page.go_back()
    expect_agents(page, "Agent 24", "Agent 25")


def test_empty_catalog_offers_registration_to_editors(open_as):
    for role, link_count in [("Viewer", 0), ("Editor", 2)]:
        page = open_as(role)
        page.goto("/catalog")
        expect(page.get_by_role("heading", level=2)).to_have_text(
            "The catalog is empty"
        )
        expect(page.get_by_role("link", name="Register an agent")).to_have_count(
            link_count
        )


def test_agent_page_shows_capabilities_connection_and_versions(open_as):
    register_agent(agent_card("Polyglot", "Translate text", version="1.0.0"))
    entry = register_agent(
        agent_card("Polyglot", "Translate text", "Proofread", version="2.0.0")
    )
    page = open_as(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/catalog/{entry.pk}")
    capabilities = page.get_by_role("region", name=re.compile(r"Capabilities \(\d"))
    expect(capabilities.get_by_role("link")).to_have_text(
        ["Proofread", "Translate text"]
    )
    capabilities.get_by_text("Technical details").click()
    expect(capabilities.get_by_text("transport.streaming")).to_be_visible()
    expect(capabilities.get_by_role("link")).to_have_count(2)

    connect = page.get_by_role("region", name="How to connect")
    expect(connect).to_contain_text("https://polyglot.example.com/a2a")
    connect.get_by_role("button", name="Copy").click()
    expect(connect.get_by_role("button", name="Copied")).to_be_focused()
    snippet = connect.locator("pre").inner_text()
    assert page.evaluate("navigator.clipboard.readText()") == snippet
    assert snippet.startswith("curl -X POST https://polyglot.example.com/a2a")

    versions = page.get_by_role("region", name="Versions (2)")
    expect(versions.locator("tbody tr")).to_have_count(2)
    expect(versions.locator("tbody tr").first).to_contain_text("+ Proofread")
    page.get_by_text("Show definition").click()
    expect(page.locator("pre.raw")).to_contain_text('"version": "2.0.0"')


def test_copy_button_is_hidden_without_javascript(open_as):
    entry = register_agent(agent_card("Polyglot", "Translate text"))
    page = open_as(java_script_enabled=False)
    page.goto(f"/catalog/{entry.pk}")

    expect(page.locator(".snippet pre")).to_be_visible()
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
