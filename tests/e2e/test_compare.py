"""Agents side by side, in a real Chromium."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from catalog.registration.service import register
from tests.factories import card_bytes

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


@pytest.fixture
def three():
    """An A2A agent, an MCP server and an AG-UI agent."""
    return [
        register(raw).entry
        for raw in (card_bytes(), json.dumps(MCP).encode(), json.dumps(AGUI).encode())
    ]


def line(page, label):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=label))


@pytest.mark.parametrize("script", [True, False])
def test_three_protocols_are_chosen_and_stand_side_by_side(open_as, three, script):
    page = open_as() if script else open_as(java_script_enabled=False)
    page.goto("/catalog")
    for name in ("Translator", "Notebook", "Painter"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
        if script:
            # Slower than a request begins, quicker than it is answered.
            page.wait_for_timeout(300)
    if script:
        expect(page.locator(".compare-bar a")).to_have_count(3)
    page.get_by_role("button", name="Compare chosen").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Compare agents")
    for name in ("Translator", "Notebook", "Painter"):
        expect(page.get_by_role("columnheader", name=name)).to_be_visible()
    # By name: Notebook, Painter, Translator.
    expect(line(page, "Streaming").first.get_by_role("cell")).to_have_text(
        [re.compile("not declared"), re.compile(r"\bno\b"), re.compile("yes")]
    )
    assert re.fullmatch(r"(id=[0-9a-f-]{36}&?){3}", page.url.partition("?")[2])


@pytest.mark.parametrize("gap", [100, 300, 700])
def test_no_tick_is_undone_by_an_answer_to_an_older_question(open_as, three, gap):
    page = open_as()
    page.goto("/catalog")

    def slowly(route):
        page.wait_for_timeout(500)
        route.continue_()

    page.route("**/catalog?*", slowly)
    for name in ("Translator", "Notebook", "Painter"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
        page.wait_for_timeout(gap)

    expect(page.locator(".compare-bar a")).to_have_count(3)
    for name in ("Translator", "Notebook", "Painter"):
        expect(page.get_by_role("checkbox", name=f"Compare {name}")).to_be_checked()


def many():
    for n in range(30):
        register(card_bytes(name=f"Agent {n:02}", url=f"https://a{n}.example/a2a"))


def test_without_a_script_a_tick_outlives_turning_the_page(open_as, three):
    many()
    page = open_as(java_script_enabled=False)
    page.goto("/catalog")
    page.get_by_role("checkbox", name="Compare Agent 00").check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.get_by_role("checkbox", name="Compare Painter").check()
    page.get_by_role("button", name="Compare chosen").click()

    expect(page.get_by_role("columnheader")).to_have_count(3)


@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_focused_is_not_behind_what_was_chosen(open_as, three, width):
    many()
    page = open_as(viewport={"width": width, "height": 700})
    page.goto("/catalog")
    page.get_by_role("checkbox", name="Compare Agent 00").check()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.get_by_role("searchbox").focus()
    for _ in range(70):
        page.keyboard.press("Tab")
        assert not page.evaluate(HIDDEN), page.evaluate("document.activeElement.id")


# Whether all of what has the focus lies behind the bar.
HIDDEN = """() => {
  const bar = document.querySelector(".compare-bar");
  const box = document.activeElement.getBoundingClientRect();
  const over = bar.getBoundingClientRect();
  const inside = bar.contains(document.activeElement);
  return !inside && box.top >= over.top && box.bottom <= over.bottom;
}"""


def test_a_choice_outlives_searching_paging_and_reloading(open_as, three):
    many()
    page = open_as()
    page.goto("/catalog")
    page.get_by_role("checkbox", name="Compare Agent 00").check()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile("page=2"))
    assert page.evaluate("scrollY") == 0
    page.get_by_role("checkbox", name="Compare Painter").check()
    expect(page.locator(".compare-bar")).to_contain_text("Painter")
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.get_by_role("checkbox", name="Compare Painter")).to_be_focused()
    page.get_by_role("searchbox").fill("zzzznothing")
    expect(page.get_by_text("No agents found")).to_be_visible()
    page.get_by_role("searchbox").fill("notebook")
    expect(page.locator(".agent")).to_have_count(1)
    page.reload()

    expect(page.locator(".compare-bar")).to_contain_text("Agent 00")
    page.locator(".compare-bar").get_by_role("link", name="Agent 00").click()
    expect(page.locator(".compare-bar")).not_to_contain_text("Agent 00")
    page.get_by_role("checkbox", name="Compare Notebook").check()
    expect(page.locator(".compare-bar")).to_contain_text("Notebook")
    page.get_by_role("button", name="Compare chosen").click()
    expect(page.get_by_role("columnheader")).to_have_count(3)


def test_who_ticks_an_agent_stays_where_it_is(open_as, three):
    many()
    page = open_as(viewport={"width": 1280, "height": 700})
    page.goto("/catalog")
    box = page.get_by_role("checkbox", name="Compare Agent 09")
    box.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    box.click()
    expect(page.locator(".compare-bar")).to_contain_text("Agent 09")

    assert page.evaluate("scrollY") == before > 0


def test_by_keyboard(open_as, three):
    page = open_as()
    page.goto("/catalog")
    for name in ("Notebook", "Painter"):
        page.get_by_role("checkbox", name=f"Compare {name}").focus()
        page.keyboard.press("Space")
        expect(page.locator(".compare-bar")).to_contain_text(name)
        expect(page.get_by_role("checkbox", name=f"Compare {name}")).to_be_focused()
    page.get_by_role("button", name="Compare chosen").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("columnheader", name="Painter")).to_be_visible()


def test_narrowing_by_what_they_support(open_as, three):
    page = open_as()
    page.goto("/catalog")
    page.get_by_text("Supports", exact=True).click()
    page.get_by_role("checkbox", name="Streaming").check()

    expect(page.locator(".agent")).to_have_count(1)
    expect(page).to_have_url(re.compile("feature=transport.streaming"))

    page.get_by_role("checkbox", name="Streaming").uncheck()
    expect(page.locator(".agent")).to_have_count(3)
    expect(page.get_by_role("checkbox", name="Streaming")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("count", [2, 4])
def test_it_is_readable_for_everybody(open_as, three, scheme, width, count):
    page = open_as(color_scheme=scheme, viewport={"width": width, "height": 900})
    endless = {"name": "create_pull_request_" * 20, "description": ""}
    said = {"tools": {"items": [endless]}, "custom": {"endless" * 20: True}}
    said["identity"] = {"name": "Wordy"}
    wordy = register(json.dumps(said).encode()).entry
    chosen = [wordy, *three][:count]
    page.goto("/catalog/compare?" + "&".join(f"id={entry.pk}" for entry in chosen))

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
