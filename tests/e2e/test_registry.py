"""The registry in a browser: live, by keyboard, without JavaScript, for everybody."""

import json
import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from catalog.events import consumers as live
from catalog.health.status import record_probe
from catalog.models import Status
from routing import service
from routing.events import REGISTRY_GROUP
from routing.metrics import Report, record_report
from routing.models import DesiredState
from tests.e2e.test_accessibility import LONG, axe  # noqa: F401 - a fixture
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.e2e

INDEX = "/registry"
PAGE = "/registry/data-analysis"


def offered_by(name, status=Status.ACTIVE, load=None, **members):
    entry = CatalogEntryFactory(display_name=name, status=status)
    if load is not None:
        members |= {"load_score": load, "load_score_at": timezone.now()}
    return RegistrationFactory(entry=entry, **members)


@pytest.fixture
def providers(server):
    """Of every health and every wish, so that all colours are seen."""
    RegistrationFactory(capability="web-search")
    offered_by("Stranger", Status.UNKNOWN)
    offered_by("Slow", Status.DEGRADED, priority=80)
    offered_by("Away", Status.OFFLINE, priority=900)
    offered_by("Drained", intent=DesiredState.DRAINING)
    return offered_by("Quick", priority=100, load=0.3, response_time_avg_ms=120)


def group(page, name):
    return page.locator("details.group").filter(has=page.get_by_text(name, exact=True))


def open_following(page, place):
    """Open the place, and wait until it hears what is told."""
    frames = []
    with page.expect_websocket(lambda one: "/ws/capabilities" in one.url) as opened:
        page.goto(place)
    opened.value.on("framereceived", lambda _: frames.append(True))
    for _ in range(200):
        live.send_to_group(REGISTRY_GROUP, {"data": {"capability": "data-analysis"}})
        page.wait_for_timeout(50)
        if frames:
            page.wait_for_timeout(500)
            return
    raise AssertionError("nothing was heard")


def test_the_page_follows_what_happens_and_open_groups_stay_open(providers, open_as):
    page = open_as()
    open_following(page, INDEX)
    analysis = group(page, "data-analysis")
    analysis.locator("summary").click()
    page.evaluate("window.sameAsBefore = true")

    entry = CatalogEntryFactory(display_name="Newcomer")
    service.register(entry, "data-analysis")
    row = analysis.locator("tr", has_text="Newcomer")
    expect(row).to_be_visible()
    expect(row).to_contain_text("Healthy")
    for probe, health in [(failure, "Degraded"), (failure, ""), (failure, "Unhealthy")]:
        record_probe(entry, probe())
        expect(row).to_contain_text(health)
    record_probe(entry, success())
    expect(row).to_contain_text("Healthy")
    expect(group(page, "web-search")).not_to_have_attribute("open", re.compile(".*"))
    entry.delete()
    expect(row).to_have_count(0)
    expect(analysis.locator("tr", has_text="Quick")).to_be_visible()
    assert page.evaluate("window.sameAsBefore")


def test_what_was_searched_for_stays_searched_for(providers, open_as):
    page = open_as()
    open_following(page, INDEX)
    page.get_by_role("searchbox").press_sequentially("web")
    expect(page.locator(".group-name")).to_have_text(["web-search"])

    service.register(CatalogEntryFactory(), "web-scraping")
    expect(page.locator(".group-name")).to_have_text(["web-scraping", "web-search"])
    expect(page.get_by_role("searchbox")).to_have_value("web")


def test_the_keyboard_stays_where_it_was_when_news_arrive(providers, open_as):
    page = open_as()
    open_following(page, INDEX)
    summary = group(page, "web-search").locator("summary")
    summary.focus()
    service.register(CatalogEntryFactory(display_name="Newcomer"), "data-analysis")

    expect(group(page, "data-analysis").locator("tr")).to_have_count(7)
    expect(summary).to_be_focused()


def test_news_that_never_pause_are_shown_too(providers, open_as):
    page = open_as()
    open_following(page, INDEX)
    service.register(CatalogEntryFactory(), "translation")
    for _ in range(150):
        live.send_to_group(REGISTRY_GROUP, {"data": {"capability": "data-analysis"}})
        page.wait_for_timeout(100)
        if page.locator(".group-name", has_text="translation").count():
            return
    raise AssertionError("nothing was shown for fifteen seconds")


def test_news_do_not_move_what_one_reads(providers, open_as):
    page = open_as(viewport={"width": 390, "height": 600})
    open_following(page, INDEX)
    group(page, "data-analysis").locator("summary").click()
    page.evaluate("scrollTo(0, 900)")
    service.register(CatalogEntryFactory(), "translation")
    expect(page.locator(".group-name", has_text="translation")).to_have_count(1)

    assert page.evaluate("scrollY") == 900


def test_figures_of_which_nobody_is_told_are_looked_at_again(providers, open_as):
    page = open_as()
    page.clock.install()
    page.goto(f"{PAGE}?strategy=priority")
    first = page.locator("#order tbody tr").first
    expect(first).to_contain_text("(1 − load 0.3)")
    record_report(providers.pk, Report(gauges={"load_score": 0.1}))
    page.clock.run_for(12_000)

    expect(first).to_contain_text("(1 − load 0.1)")


def test_the_order_on_trial_follows_too(providers, open_as):
    page = open_as()
    open_following(page, f"{PAGE}?strategy=priority")
    first = page.locator("#order tbody tr").first
    expect(first).to_contain_text("Priority 100 × health 1 (healthy) × (1 − load 0.3)")
    service.register(
        CatalogEntryFactory(display_name="Newcomer"), "data-analysis", priority=777
    )

    expect(first).to_contain_text("Newcomer")
    expect(first).to_contain_text("Priority 777 × health 1 (healthy) × (1 − load 0)")


def test_the_last_provider_leaves_while_one_looks(server, open_as):
    one = offered_by("Quick")
    page = open_as(refusals=True)
    open_following(page, PAGE)
    expect(page.locator("#order tbody tr")).to_contain_text("Quick")
    service.unregister(one)

    expect(page.locator("#order")).not_to_contain_text("Quick")


def test_trying_it_by_keyboard(providers, open_as):
    page = open_as()
    page.goto(INDEX)
    group(page, "data-analysis").locator("summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr", has_text="Quick")).to_be_visible()
    group(page, "data-analysis").get_by_role("link", name="Try it").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("data-analysis")
    page.get_by_label("Strategy").focus()
    page.keyboard.press("f")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type('{"a": 1')
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("strategy=fastest_response"))
    expect(page.locator("#order tbody tr").first).to_contain_text("1 s ÷ response time 120 ms")
    expect(page.get_by_text("metadata_filter is not JSON")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False])
def test_an_editor_changes_an_offer(providers, open_as, javascript):
    page = open_as("Editor", java_script_enabled=javascript)
    page.goto(PAGE)
    form = page.locator("form.registration-form", has_text="Quick")
    form.get_by_label("Priority").fill("7")
    form.get_by_label("Status").select_option("Inactive")
    form.get_by_role("button", name="Save Quick").click()

    expect(page.get_by_role("status")).to_have_text("Quick was updated.")
    row = page.locator("#order tr", has_text="Quick")
    expect(row).to_contain_text("inactive")
    expect(row).to_contain_text("Receives no requests")


def test_all_of_it_works_without_javascript(providers, open_as):
    page = open_as(java_script_enabled=False)
    page.goto(INDEX)
    page.get_by_role("searchbox").fill("data")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator(".group-name")).to_have_text(["data-analysis"])
    group(page, "data-analysis").locator("summary").click()
    group(page, "data-analysis").get_by_role("link", name="Try it").click()
    page.get_by_label("Strategy").select_option("least loaded")
    page.get_by_role("button", name="Show the order").click()

    expect(page.locator("#order tbody tr").first).to_contain_text("1 − load 0.3")
    expect(page.locator("#order tbody tr")).to_have_count(5)


def test_axe_finds_nothing(providers, open_as, axe):  # noqa: F811 - a fixture
    page = open_as("Editor")
    page.goto(INDEX)
    for summary in page.locator("summary").all():
        summary.click()
    axe(page, "registry")
    page.goto(f"{INDEX}?q=nonsense")
    axe(page, "nothing found")
    for asked in ("", "?strategy=load_balance", "?metadata={", "?version=9.9.9"):
        page.goto(PAGE + asked)
        axe(page, f"capability {asked}")


def test_an_empty_registry_is_clean_as_well(server, open_as, axe):  # noqa: F811
    page = open_as()
    page.goto(INDEX)
    axe(page, "empty")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways(providers, open_as, width):
    name = "very-long-name" * 7
    long = offered_by(LONG, capability=name, version="1.0.0-" + "x" * 90, load=1 / 3)
    RegistrationFactory(entry=long.entry)
    page = open_as("Editor", viewport={"width": width, "height": 800})
    too_wide = []
    for place in (
        INDEX,
        f"{INDEX}?q={LONG}",
        PAGE,
        f"/registry/{name}",
        f"{PAGE}?metadata={json.dumps({'a': LONG})}&version={LONG[:90]}",
    ):
        page.goto(place)
        for summary in page.locator("summary").all():
            summary.click()
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(place)
    assert too_wide == []
