"""Which agent can do X: the index of capabilities, and the page of one."""

import re
from urllib.parse import unquote

import pytest
from django.apps import AppConfig
from playwright.sync_api import expect

from capabilities.kinds import discoverable_kinds, kinds
from capabilities.parsers import parsers
from catalog.models import Status
from tests.factories import skill
from tests.published import agent_card, register_agent, mcp_definition
from tests.weather.test_weather import STATION

pytestmark = pytest.mark.e2e

INDEX = "/catalog/capabilities"
ALL = ["Proofread", "search_documents", "Summarise", "Translate text"]
NAMES = [
    "a/b c",
    "x::y",
    "100%",
    "ä/ö?#",
    "..",
    "../../login",
    "שלום עולם",
    "Say 🦜",
    "<b>bold</b> & \"quoted\" 'twice'",
    "n" * 300,
]


@pytest.fixture
def catalog(server):
    """Three agents that translate, two servers that search, and one that is away."""
    register_agent(agent_card("Polyglot", "Translate text", "Proofread"), latency_ms=120)
    register_agent(agent_card("Babel", "Translate text"), Status.DEGRADED)
    register_agent(agent_card("Rosetta", "Translate text", "Summarise"))
    register_agent(agent_card("Sleeper", "Translate text"), Status.OFFLINE)
    register_agent(mcp_definition("Stacks", "search_documents"))
    register_agent(mcp_definition("Index", "search_documents"))


@pytest.fixture
def long_catalog(server):
    """109 offers under a hundred names: ten agents share what ends the first page."""
    register_agent(agent_card("Able", *(f"Task {n:02}" for n in range(100))))
    for n in range(9):
        register_agent(agent_card(f"Baker {n}", "Task 45"))


@pytest.fixture
def weather():
    with kinds.temporarily(), parsers.temporarily():
        AppConfig.create("tests.weather").ready()
        yield


def group(page, name):
    return page.locator("details.group").filter(has=page.get_by_text(name, exact=True))


def expect_names(page, *names):
    expect(page.locator(".group-name")).to_have_text(names)


def expect_groups(page, count):
    expect(page.locator("details.group")).to_have_count(count)


def asked_by_htmx(page):
    """The requests htmx sends from now on, as a list that grows."""
    asked = []
    page.on("request", lambda r: "hx-request" in r.headers and asked.append(r.url))
    return asked


def test_from_a_search_to_the_agents_and_back(catalog, open_as):
    page = open_as()
    page.goto("/")
    page.get_by_role("link", name="Capabilities").click()
    expect_names(page, *ALL)
    expect(group(page, "Translate text").locator(".count")).to_have_text("3 agents")
    expect(group(page, "search_documents").locator(".count")).to_have_text("2 agents")
    expect(group(page, "Proofread").locator(".count")).to_have_text("1 agent")

    page.get_by_role("searchbox").press_sequentially("E")
    page.get_by_role("searchbox").press_sequentially("AR")
    expect_names(page, "search_documents")
    page.get_by_role("searchbox").fill("TEXT")
    page.get_by_label("A2A Skill").check()
    expect_names(page, "Translate text")
    expect(page).to_have_url(re.compile(r"\?q=TEXT&kind=a2a\.skill$"))
    page.get_by_label("MCP Tool").check()
    page.get_by_role("link", name="Clear filters").click()
    expect_names(page, *ALL)

    translate = group(page, "Translate text")
    translate.locator("summary").click()
    offers = translate.locator(".item-list li a")
    expect(offers).to_have_text(["Babel", "Polyglot", "Rosetta"])
    translate.get_by_role("link", name="View all").click()
    expect(page).to_have_url(re.compile(r"/catalog/capabilities/a2a\.skill%3A%3ATr"))
    expect(page.locator("tbody a")).to_have_text(
        ["Babel", "Polyglot", "Rosetta", "Sleeper"]
    )
    expect(page.locator("tr", has_text="Sleeper")).to_contain_text("Offline")

    page.locator("tr", has_text="Polyglot").get_by_text("120 ms").click(force=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("Polyglot")
    page.get_by_role("link", name="Translate text").click()
    expect(page).to_have_url(re.compile(r"a2a\.skill%3A%3ATranslate%20text$"))
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Translate text")
    expect(page.locator("tbody tr")).to_have_count(4)


def test_all_of_it_by_keyboard(catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("")

    first, second = (group(page, name).locator("summary") for name in ALL[:2])
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(second).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(first).to_be_focused()

    page.keyboard.press("Enter")
    expect(group(page, "Proofread")).to_have_attribute("open", "")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Polyglot")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="View all")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Proofread")


def test_choosing_a_filter_keeps_the_focus_on_it(catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    page.get_by_label("All").focus()
    page.keyboard.press("ArrowRight")

    expect_names(page, "Proofread", "Summarise", "Translate text")
    expect(page.get_by_label("A2A Skill")).to_be_focused()


def test_without_javascript_forms_and_links_do_it(long_catalog, open_as):
    register_agent(mcp_definition("Stacks", "tasks_of_today"))
    page = open_as(java_script_enabled=False)
    page.goto(INDEX)
    page.get_by_role("link", name="Load more").click()
    expect(page.locator(".group-name").first).to_have_text("Task 45")
    expect(group(page, "Task 45")).to_contain_text("continued from previous page")
    expect(group(page, "Task 46")).not_to_contain_text("continued")
    expect(group(page, "Task 45").locator(".count")).to_have_text("5 agents")
    page.get_by_role("link", name="Previous page").click()
    expect(group(page, "Task 45")).not_to_contain_text("continued")

    page.get_by_role("searchbox").fill("task")
    page.get_by_label("MCP Tool").check()
    page.get_by_role("button", name="Search").click()
    expect_names(page, "tasks_of_today")
    expect(page.get_by_role("searchbox")).to_have_value("task")
    expect(page.get_by_label("MCP Tool")).to_be_checked()
    page.locator("summary").click()
    expect(page.get_by_role("link", name="Stacks")).to_be_visible()


def test_load_more_makes_one_group_of_two_halves(long_catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    expect_groups(page, 46)
    split = group(page, "Task 45")
    expect(split.locator(".count")).to_have_text("5 agents")
    split.locator("summary").click()

    more = page.get_by_role("link", name="Load more")
    more.focus()
    before = page.evaluate("scrollY")
    more.press("Enter")
    expect_groups(page, 91)
    assert page.evaluate("scrollY") == before > 1000
    expect(split).to_have_count(1)
    expect(split.locator(".count")).to_have_text("10 agents")
    expect(split).to_have_attribute("open", "")
    expect(split).not_to_contain_text("continued")
    expect(page.get_by_role("link", name="Load more")).to_be_focused()
    page.reload()
    expect_groups(page, 91)

    page.get_by_role("link", name="Load more").press("Enter")
    expect_groups(page, 100)
    expect(page.get_by_role("link", name="Load more")).to_have_count(0)
    expect(page.get_by_text("109 of 109")).to_be_focused()


def test_back_and_forward_restore_the_view(long_catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    page.get_by_role("searchbox").fill("task")
    expect(page).to_have_url(re.compile("q=task$"))
    page.get_by_label("A2A Skill").check()
    expect(page).to_have_url(re.compile("kind=a2a.skill$"))
    page.get_by_role("link", name="Load more").click()
    expect_groups(page, 91)
    page.get_by_role("searchbox").fill("task 45")
    expect_groups(page, 1)
    group(page, "Task 45").locator("summary").click()
    page.get_by_role("link", name="Able").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Able")

    def expect_view(query, kind, groups):
        expect_groups(page, groups)
        expect(page.get_by_role("searchbox")).to_have_value(query)
        expect(page.get_by_label(kind)).to_be_checked()
        expect(page.get_by_role("navigation", name="Main")).to_have_count(1)

    views = [
        ("", "All", 46),
        ("task", "All", 46),
        ("task", "A2A Skill", 46),
        ("task", "A2A Skill", 91),
        ("task 45", "A2A Skill", 1),
    ]
    for view in reversed(views):
        page.go_back()
        expect_view(*view)
    for view in views[1:]:
        page.go_forward()
        expect_view(*view)


def test_a_burst_of_keys_is_one_request_after_a_quarter_of_a_second(catalog, open_as):
    page = open_as(timezone_id="UTC")
    page.clock.install(time=0)
    page.goto(INDEX)
    page.clock.pause_at(60_000)
    asked = asked_by_htmx(page)
    page.get_by_role("searchbox").press_sequentially("summ")
    page.clock.run_for(249)
    assert asked == []

    page.clock.run_for(1)
    page.clock.resume()
    expect_names(page, "Summarise")
    assert [url.partition("?")[2] for url in asked] == ["q=summ"]


def test_the_same_question_asked_again_is_one_step_back(catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    page.get_by_role("searchbox").fill("summ")
    for _ in range(2):
        with page.expect_response("**/capabilities?q=summ"):
            page.get_by_role("searchbox").press("Enter")
        expect_names(page, "Summarise")
        expect(page.locator(".htmx-request")).to_have_count(0)

    page.go_back()
    expect_names(page, *ALL)


def test_skeletons_stand_in_while_it_loads(catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    held = []
    page.route("**/capabilities?q=*", lambda route: held.insert(0, route))
    page.get_by_role("searchbox").fill("summ")
    expect(page.locator(".skeleton").first).to_be_visible()
    expect(page.locator(".groups")).to_be_hidden()

    held[0].continue_()
    expect_names(page, "Summarise")
    expect(page.locator(".skeleton").first).to_be_hidden()


def test_a_failure_is_told_and_tried_again(long_catalog, open_as):
    page = open_as(refusals=True)
    page.goto(INDEX)
    for act, asked, count in [
        (lambda: page.get_by_role("link", name="Load more").click(), "shown=*", 91),
        (lambda: page.get_by_role("searchbox").fill("Task 45"), "q=*", 1),
    ]:
        page.route(f"**/capabilities?{asked}", lambda route: route.fulfill(status=500))
        act()
        expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        expect_groups(page, count)
        expect(page.get_by_role("alert")).to_be_hidden()


def test_the_kinds_are_counted_for_the_current_search(catalog, open_as):
    page = open_as()
    page.goto(INDEX)
    chips = page.locator(".chip")
    expect(chips).to_have_text(chips_of({"a2a.skill": 5, "mcp.tool": 2}))

    page.get_by_role("searchbox").fill("search")
    expect(chips).to_have_text(chips_of({"mcp.tool": 2}))


def chips_of(counts):
    """One for all, and one for each kind there is, however few it has."""
    each = [f"{kinds.get(k).label} {counts.get(k, 0)}" for k in discoverable_kinds()]
    return [f"All {sum(counts.values())}", *each]


def test_what_is_said_when_there_is_nothing(open_as):
    page = open_as(refusals=True)
    page.goto(INDEX)
    expect(page.get_by_role("heading", level=2)).to_have_text(
        "No capabilities published yet"
    )
    register_agent(agent_card("Polyglot", "Translate text"))
    page.reload()
    page.get_by_role("searchbox").fill("cook")
    expect(page.get_by_role("heading", level=2)).to_have_text("No capabilities found")
    page.get_by_role("link", name="Clear filters").click()
    expect_names(page, "Translate text")
    expect(page.get_by_role("searchbox")).to_have_value("")

    answer = page.goto(f"{INDEX}/a2a.skill::Cook")
    assert answer.status == 404
    expect(page.get_by_text("No agent offers Cook")).to_be_visible()


def test_names_that_try_hard_are_names(open_as):
    register_agent(agent_card("Able", *(skill(name, id=f"s{n}") for n, name in enumerate(NAMES))))
    page = open_as()
    page.goto(INDEX)
    for name in NAMES:
        group(page, name).locator("summary").click()
        group(page, name).get_by_role("link", name="View all").click()
        expect(page.locator("h1")).to_have_text(name)
        assert unquote(page.url).endswith(f"{INDEX}/a2a.skill::{name}")
        expect(page.locator("tbody a")).to_have_text("Able")
        page.go_back(wait_until="commit")


def test_a_kind_another_app_brings_is_on_the_page(weather, open_as):
    register_agent(STATION)
    page = open_as()
    page.goto(INDEX)
    page.get_by_label("Forecast 1").check()

    expect(page).to_have_url(re.compile(r"kind=weather\.forecast$"))
    expect_names(page, "Snow")
    expect(group(page, "Snow").locator(".badge.kind")).to_have_text("Forecast")
