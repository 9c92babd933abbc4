"""What a refresh changes, in its preview and on the page of the agent."""

import json

import pytest
from playwright.sync_api import expect

from catalog.models import CatalogEntry
from tests.registered_agents import mcp_definition, register_agent
from tests.servers import reply

pytestmark = pytest.mark.e2e

DESCRIPTION = "Search all documents of the library by words in any language. " * 8
BEFORE = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "lang": {"type": "string", "enum": ["de", "en", "fr"]},
        "filter": {"properties": {"year": {"type": "integer"}}},
        "sort": {"type": "string", "description": "Order"},
    },
    "required": ["query"],
}
AFTER = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "lang": {"type": "string", "enum": ["de", "en"]},
        "filter": {"properties": {"year": {"type": "string"}}},
        "sort": {"type": "string", "description": "Order of the results"},
        "library": {"type": "string"},
    },
    "required": ["query", "library"],
}


def publish(server, version, schema, description, *other_tools):
    """Serve and return a definition with a tool that has this input schema."""
    document = mcp_definition("Stacks", *other_tools, url=server.url("/mcp"))
    document["serverInfo"]["version"] = version
    tool = {"name": "search", "description": description, "inputSchema": schema}
    document["tools"].append(tool)
    server.routes["/server.json"] = reply(body=json.dumps(document).encode())
    return document


def register_published(server, document):
    """Register a definition as if it had been imported from where it is served."""
    entry = register_agent(document)
    url = server.url("/server.json")
    CatalogEntry.objects.filter(pk=entry.pk).update(source_url=url)
    return entry


def has_horizontal_scrolling(page):
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_changes_are_shown_field_by_field_before_and_after_refresh_t14(
    card_server, open_as, check_accessibility, width
):
    document = publish(card_server, "1.2.0", BEFORE, "Search", "lend")
    entry = register_published(card_server, document)
    publish(card_server, "1.3.0", AFTER, DESCRIPTION, "reserve")
    page = open_as("Editor", viewport={"width": width, "height": 900})
    page.goto(entry.get_absolute_url())
    page.get_by_role("button", name="Refresh").click()

    heading = page.get_by_role("region", name="Changes").get_by_role("heading")
    expect(heading).to_have_text("4 breaking changes")
    changes = page.locator(".field-change")
    expect(changes.filter(has_text="Version changed")).to_contain_text("1.2.0")
    library = changes.filter(has_text="Input schema library new required parameter")
    expect(library).to_contain_text("breaks clients")
    expect(changes.filter(has_text="filter.year type changed")).to_have_count(1)
    expect(changes.filter(has_text="Description changed Before")).to_have_count(1)
    assert not has_horizontal_scrolling(page)
    check_accessibility(page, "preview")

    page.get_by_role("button", name="Apply").click()
    versions = page.get_by_role("region", name="Versions")
    expect(versions).to_contain_text("4 breaking changes")
    expect(versions.locator(".field-change").first).to_contain_text("1.3.0")
    assert not has_horizontal_scrolling(page)
    check_accessibility(page, "agent")


def test_changes_are_readable_without_javascript(card_server, open_as):
    document = publish(card_server, "1.2.0", BEFORE, "Search")
    entry = register_published(card_server, document)
    publish(card_server, "1.3.0", AFTER, "Search")
    page = open_as("Editor", java_script_enabled=False)
    page.goto(entry.get_absolute_url())
    page.get_by_role("button", name="Refresh").click()

    enum = page.locator(".field-change").filter(has_text="lang enum narrowed")
    expect(enum).to_contain_text("de, en, fr")
