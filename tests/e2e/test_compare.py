"""Selecting agents and comparing them."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from catalog.registration.service import register
from tests.factories import card_bytes

from .pages import wait_in_page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

MCP = {
    "serverInfo": {"name": "notebook", "title": "Notebook", "version": "1.0.0"},
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": False}},
    "tools": [{"name": "add_note", "inputSchema": {"type": "object"}}],
    "url": "https://notebook.example.com/mcp",
}
AGUI = {
    "identity": {"name": "Painter"},
    "transport": {"streaming": False},
    "reasoning": {"supported": True},
    "tools": {"items": [{"name": "add_note", "description": "Add a note."}]},
}


NAMES = ("Translator", "Notebook", "Painter")
# Milliseconds between the last selection and its request.
SEARCH_DELAY_MS = 250


@pytest.fixture
def three_entries():
    """Register an A2A agent, an MCP server and an AG-UI agent."""
    return [
        register(definition).entry
        for definition in (
            card_bytes(),
            json.dumps(MCP).encode(),
            json.dumps(AGUI).encode(),
        )
    ]


def get_checkbox(page, name):
    return page.get_by_role("checkbox", name=f"Compare {name}")


def get_row(page, label):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=label))


@pytest.mark.parametrize("javascript", [True, False])
def test_agents_of_three_protocols_are_compared(open_as, three_entries, javascript):
    page = open_as() if javascript else open_as(java_script_enabled=False)
    page.goto("/catalog")
    for count, name in enumerate(NAMES, 1):
        get_checkbox(page, name).check()
        if javascript:
            expect(page.locator(".compare-bar a")).to_have_count(count)
    page.get_by_role("button", name="Compare selected").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Compare agents")
    for name in NAMES:
        expect(page.get_by_role("columnheader", name=name)).to_be_visible()
    # Sorted by name: Notebook, Painter, Translator.
    expect(get_row(page, "Streaming").first.get_by_role("cell")).to_have_text(
        [re.compile("undeclared"), re.compile(r"\bno\b"), re.compile("yes")]
    )
    assert re.fullmatch(r"(id=[0-9a-f-]{36}&?){3}", page.url.partition("?")[2])


def open_and_hold_requests(open_as):
    """Open the catalog with its clock paused; return the page and its requests.

    The requests, newest first, wait until the test continues them.
    """
    page, routes = open_as(fake_clock=True), []
    page.goto("/catalog")
    page.clock.pause_at(60_000)
    page.route("**/catalog?*", lambda route: routes.insert(0, route))
    return page, routes


def send_request(page, routes):
    """Let the time pass after which the page sends a request for the selection."""
    count = len(routes)
    page.clock.run_for(SEARCH_DELAY_MS)
    wait_in_page(page, lambda: len(routes) == count + 1)


def expect_all_selected(page):
    expect(page.locator(".compare-bar a")).to_have_count(3)
    for name in NAMES:
        expect(get_checkbox(page, name)).to_be_checked()


def test_agents_selected_in_quick_succession_are_sent_together(open_as, three_entries):
    page, routes = open_and_hold_requests(open_as)
    for name in NAMES:
        get_checkbox(page, name).check()
        page.clock.run_for(SEARCH_DELAY_MS - 1)
    assert routes == []

    send_request(page, routes)
    page.clock.resume()
    routes[0].continue_()
    expect_all_selected(page)


def test_request_for_next_selection_replaces_running_request(open_as, three_entries):
    page, routes = open_and_hold_requests(open_as)
    for name in NAMES:
        get_checkbox(page, name).check()
        send_request(page, routes)

    page.clock.resume()
    routes[0].continue_()
    expect_all_selected(page)


def test_outdated_response_does_not_undo_selection(open_as, three_entries):
    """Each agent is selected before the response to the previous selection."""
    page, routes = open_and_hold_requests(open_as)
    for name in NAMES:
        page.clock.run_for(1)
        get_checkbox(page, name).check()
        if routes:
            with page.expect_event("requestfinished"):
                routes[0].continue_()
        send_request(page, routes)

    page.clock.resume()
    routes[0].continue_()
    expect_all_selected(page)


def register_thirty_agents():
    for n in range(30):
        register(card_bytes(name=f"Agent {n:02}", url=f"https://a{n}.example/a2a"))


def test_selection_survives_pagination_without_javascript(open_as, three_entries):
    register_thirty_agents()
    page = open_as(java_script_enabled=False)
    page.goto("/catalog")
    get_checkbox(page, "Agent 00").check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    get_checkbox(page, "Painter").check()
    page.get_by_role("button", name="Compare selected").click()

    expect(page.get_by_role("columnheader")).to_have_count(3)


@pytest.mark.parametrize("width", [1280, 390])
def test_focused_element_is_not_hidden_by_compare_bar(open_as, three_entries, width):
    register_thirty_agents()
    page = open_as(viewport={"width": width, "height": 700})
    page.goto("/catalog")
    get_checkbox(page, "Agent 00").check()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.get_by_role("searchbox").focus()
    for _ in range(70):
        page.keyboard.press("Tab")
        assert not page.evaluate(IS_FOCUS_HIDDEN_SCRIPT), page.evaluate(
            "document.activeElement.id"
        )


# Returns whether the compare bar covers the focused element.
IS_FOCUS_HIDDEN_SCRIPT = """() => {
  const bar = document.querySelector(".compare-bar");
  const box = document.activeElement.getBoundingClientRect();
  const over = bar.getBoundingClientRect();
  const inside = bar.contains(document.activeElement);
  return !inside && box.top >= over.top && box.bottom <= over.bottom;
}"""


def test_selection_survives_search_pagination_and_reload(open_as, three_entries):
    register_thirty_agents()
    page = open_as()
    page.goto("/catalog")
    get_checkbox(page, "Agent 00").check()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile("page=2"))
    assert page.evaluate("scrollY") == 0
    get_checkbox(page, "Painter").check()
    expect(page.locator(".compare-bar")).to_contain_text("Painter")
    expect(page).to_have_url(re.compile("page=2"))
    expect(get_checkbox(page, "Painter")).to_be_focused()
    page.get_by_role("searchbox").fill("zzzznothing")
    expect(page.get_by_text("No agents found")).to_be_visible()
    page.get_by_role("searchbox").fill("notebook")
    expect(page.locator(".agent")).to_have_count(1)
    page.reload()

    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.locator(".compare-bar").get_by_role("link", name="Agent 00").click()
    expect(page.locator(".compare-bar")).not_to_contain_text("Agent 00")
    get_checkbox(page, "Notebook").check()
    expect(page.locator(".compare-bar")).to_contain_text("Notebook")
    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_role("columnheader")).to_have_count(3)


def test_selecting_agent_keeps_scroll_position(open_as, three_entries):
    register_thirty_agents()
    page = open_as(viewport={"width": 1280, "height": 700})
    page.goto("/catalog")
    checkbox = get_checkbox(page, "Agent 09")
    checkbox.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    checkbox.click()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 09")

    assert page.evaluate("scrollY") == before > 0


def test_selection_works_with_keyboard(open_as, three_entries):
    page = open_as()
    page.goto("/catalog")
    for name in ("Notebook", "Painter"):
        get_checkbox(page, name).focus()
        page.keyboard.press("Space")
        expect(page.locator(".compare-bar")).to_contain_text(name)
        expect(get_checkbox(page, name)).to_be_focused()
    page.get_by_role("button", name="Compare selected").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("columnheader", name="Painter")).to_be_visible()


def test_feature_filter_narrows_catalog(open_as, three_entries):
    page = open_as()
    page.goto("/catalog")
    page.get_by_text("Features", exact=True).click()
    page.get_by_role("checkbox", name="Streaming").check()

    expect(page.locator(".agent")).to_have_count(1)
    expect(page).to_have_url(re.compile("feature=transport.streaming"))

    page.get_by_role("checkbox", name="Streaming").uncheck()
    expect(page.locator(".agent")).to_have_count(3)
    expect(page.get_by_role("checkbox", name="Streaming")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("count", [2, 4])
def test_comparison_passes_axe_without_horizontal_scrolling(
    open_as, three_entries, scheme, width, count
):
    page = open_as(color_scheme=scheme, viewport={"width": width, "height": 900})
    long_tool = {"name": "create_pull_request_" * 20, "description": ""}
    declaration = {"tools": {"items": [long_tool]}, "custom": {"endless" * 20: True}}
    declaration["identity"] = {"name": "Long"}
    long_entry = register(json.dumps(declaration).encode()).entry
    selected = [long_entry, *three_entries][:count]
    page.goto("/catalog/compare?" + "&".join(f"id={entry.pk}" for entry in selected))

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    results = Axe().run(page, options={"preload": False})
    assert results.violations_count == 0, results.generate_report()
