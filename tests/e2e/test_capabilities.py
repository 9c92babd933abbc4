"""The capabilities page and the page of a capability."""

import re
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from capabilities.kinds import discoverable_kinds, kinds
from catalog.models import Status
from tests.factories import skill
from tests.registered_agents import agent_card, mcp_definition, register_agent
from tests.weather.test_weather import STATION

from .pages import get_group

pytestmark = pytest.mark.e2e

CAPABILITIES_URL = "/catalog/capabilities"
ALL_NAMES = ["Proofread", "search_documents", "Summarize", "Translate text"]
UNUSUAL_NAMES = [
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
def catalog(agentlens_url):
    """Register four agents that translate, one of them offline, and two MCP servers."""
    register_agent(
        agent_card("Polyglot", "Translate text", "Proofread"), latency_ms=120
    )
    register_agent(agent_card("Babel", "Translate text"), Status.DEGRADED)
    register_agent(agent_card("Rosetta", "Translate text", "Summarize"))
    register_agent(agent_card("Sleeper", "Translate text"), Status.OFFLINE)
    register_agent(mcp_definition("Stacks", "search_documents"))
    register_agent(mcp_definition("Index", "search_documents"))


@pytest.fixture
def long_catalog(agentlens_url):
    """Register 109 capabilities with a hundred names.

    Ten agents share the capability that the first page ends with.
    """
    register_agent(agent_card("Able", *(f"Task {n:02}" for n in range(100))))
    for n in range(9):
        register_agent(agent_card(f"Baker {n}", "Task 45"))


def expect_names(page, *names):
    expect(page.locator(".group-name")).to_have_text(names)


def expect_groups(page, count):
    expect(page.locator("details.group")).to_have_count(count)


def collect_htmx_requests(page):
    """Return a list to which the URLs of later htmx requests are added."""
    requests = []
    page.on("request", lambda r: "hx-request" in r.headers and requests.append(r.url))
    return requests


def test_search_leads_to_capability_and_agents(catalog, open_as):
    page = open_as()
    page.goto("/")
    page.get_by_role("link", name="Capabilities").click()
    expect_names(page, *ALL_NAMES)
    expect(get_group(page, "Translate text").locator(".count")).to_have_text("3 agents")
    expect(get_group(page, "search_documents").locator(".count")).to_have_text(
        "2 agents"
    )
    expect(get_group(page, "Proofread").locator(".count")).to_have_text("1 agent")

    page.get_by_role("searchbox").press_sequentially("E")
    page.get_by_role("searchbox").press_sequentially("AR")
    expect_names(page, "search_documents")
    page.get_by_role("searchbox").fill("TEXT")
    page.get_by_label("A2A Skill").check()
    expect_names(page, "Translate text")
    expect(page).to_have_url(re.compile(r"\?q=TEXT&kind=a2a\.skill$"))
    page.get_by_label("MCP Tool").check()
    page.get_by_role("link", name="Clear filters").click()
    expect_names(page, *ALL_NAMES)

    translate = get_group(page, "Translate text")
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


def test_search_and_groups_work_with_keyboard(catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("")

    first, second = (get_group(page, name).locator("summary") for name in ALL_NAMES[:2])
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
    expect(get_group(page, "Proofread")).to_have_attribute("open", "")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Polyglot")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="View all")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Proofread")


def test_selected_filter_keeps_focus(catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    page.get_by_label("All").focus()
    page.keyboard.press("ArrowRight")

    expect_names(page, "Proofread", "Summarize", "Translate text")
    expect(page.get_by_label("A2A Skill")).to_be_focused()


def test_search_and_pagination_work_without_javascript(long_catalog, open_as):
    register_agent(mcp_definition("Stacks", "tasks_of_today"))
    page = open_as(java_script_enabled=False)
    page.goto(CAPABILITIES_URL)
    page.get_by_role("link", name="Load more").click()
    expect(page.locator(".group-name").first).to_have_text("Task 45")
    expect(get_group(page, "Task 45")).to_contain_text("continued from previous page")
    expect(get_group(page, "Task 46")).not_to_contain_text("continued")
    expect(get_group(page, "Task 45").locator(".count")).to_have_text("5 of 10 agents")
    page.get_by_role("link", name="Previous page").click()
    expect(get_group(page, "Task 45")).not_to_contain_text("continued")

    page.get_by_role("searchbox").fill("task")
    page.get_by_label("MCP Tool").check()
    page.get_by_role("button", name="Search").click()
    expect_names(page, "tasks_of_today")
    expect(page.get_by_role("searchbox")).to_have_value("task")
    expect(page.get_by_label("MCP Tool")).to_be_checked()
    page.locator("summary").click()
    expect(page.get_by_role("link", name="Stacks")).to_be_visible()


def test_load_more_merges_groups_across_pages(long_catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    expect_groups(page, 46)
    split = get_group(page, "Task 45")
    expect(split.locator(".count")).to_have_text("5 of 10 agents")
    split.locator("summary").click()

    load_more = page.get_by_role("link", name="Load more")
    load_more.focus()
    before = page.evaluate("scrollY")
    load_more.press("Enter")
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


def test_back_and_forward_restore_search_and_results(long_catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    page.get_by_role("searchbox").fill("task")
    expect(page).to_have_url(re.compile("q=task$"))
    page.get_by_label("A2A Skill").check()
    expect(page).to_have_url(re.compile("kind=a2a.skill$"))
    page.get_by_role("link", name="Load more").click()
    expect_groups(page, 91)
    page.get_by_role("searchbox").fill("task 45")
    expect_groups(page, 1)
    get_group(page, "Task 45").locator("summary").click()
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


def test_typing_sends_one_request_after_250_ms(catalog, open_as):
    page = open_as(fake_clock=True)
    page.goto(CAPABILITIES_URL)
    page.clock.pause_at(60_000)
    requests = collect_htmx_requests(page)
    page.get_by_role("searchbox").press_sequentially("summ")
    page.clock.run_for(249)
    assert requests == []

    page.clock.run_for(1)
    page.clock.resume()
    expect_names(page, "Summarize")
    assert [url.partition("?")[2] for url in requests] == ["q=summ"]


def test_repeated_search_adds_one_history_entry(catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    page.get_by_role("searchbox").fill("summ")
    for _ in range(2):
        with page.expect_response("**/capabilities?q=summ"):
            page.get_by_role("searchbox").press("Enter")
        expect_names(page, "Summarize")
        expect(page.locator(".htmx-request")).to_have_count(0)

    page.go_back()
    expect_names(page, *ALL_NAMES)


def test_skeletons_are_shown_while_loading(catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    routes = []
    page.route("**/capabilities?q=*", lambda route: routes.insert(0, route))
    page.get_by_role("searchbox").fill("summ")
    expect(page.locator(".skeleton").first).to_be_visible()
    expect(page.locator(".groups")).to_be_hidden()

    routes[0].continue_()
    expect_names(page, "Summarize")
    expect(page.locator(".skeleton").first).to_be_hidden()


def test_failed_request_shows_error_and_retries(long_catalog, open_as):
    page = open_as(allow_errors=True)
    page.goto(CAPABILITIES_URL)
    for send_request, pattern, count in [
        (lambda: page.get_by_role("link", name="Load more").click(), "shown=*", 91),
        (lambda: page.get_by_role("searchbox").fill("Task 45"), "q=*", 1),
    ]:
        page.route(
            f"**/capabilities?{pattern}", lambda route: route.fulfill(status=500)
        )
        send_request()
        expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        expect_groups(page, count)
        expect(page.get_by_role("alert")).to_be_hidden()


def test_kinds_show_counts_of_current_search(catalog, open_as):
    page = open_as()
    page.goto(CAPABILITIES_URL)
    chips = page.locator(".chip")
    expect(chips).to_have_text(get_expected_chips({"a2a.skill": 5, "mcp.tool": 2}))

    page.get_by_role("searchbox").fill("search")
    expect(chips).to_have_text(get_expected_chips({"mcp.tool": 2}))


def get_expected_chips(counts):
    """Return the texts of the chips: one for all kinds, and one for each kind."""
    chips = [f"{kinds.get(k).label} {counts.get(k, 0)}" for k in discoverable_kinds()]
    return [f"All {sum(counts.values())}", *chips]


def test_empty_states_explain_what_to_do(open_as):
    page = open_as(allow_errors=True)
    page.goto(CAPABILITIES_URL)
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

    response = page.goto(f"{CAPABILITIES_URL}/a2a.skill::Cook")
    assert response.status == 404
    expect(page.get_by_text("No agent offers Cook")).to_be_visible()


def test_unusual_capability_names_work_in_urls(open_as):
    register_agent(
        agent_card(
            "Able", *(skill(name, id=f"s{n}") for n, name in enumerate(UNUSUAL_NAMES))
        )
    )
    page = open_as()
    page.goto(CAPABILITIES_URL)
    for name in UNUSUAL_NAMES:
        get_group(page, name).locator("summary").click()
        get_group(page, name).get_by_role("link", name="View all").click()
        expect(page.locator("h1")).to_have_text(name)
        assert unquote(page.url).endswith(f"{CAPABILITIES_URL}/a2a.skill::{name}")
        expect(page.locator("tbody a")).to_have_text("Able")
        page.go_back(wait_until="commit")


def test_kind_of_third_party_app_is_shown(weather, open_as):
    register_agent(STATION)
    page = open_as()
    page.goto(CAPABILITIES_URL)
    page.get_by_label("Forecast 1").check()

    expect(page).to_have_url(re.compile(r"kind=weather\.forecast$"))
    expect_names(page, "Snow")
    expect(get_group(page, "Snow").locator(".badge.kind")).to_have_text("Forecast")
