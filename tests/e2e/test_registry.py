"""The registry pages: live updates, keyboard, no JavaScript, accessibility."""

import json
import re

import pytest
from playwright.sync_api import expect

from catalog.events import send_to_group
from catalog.health.status import record_probe
from catalog.models import Status
from routing import service
from routing.events import REGISTRY_GROUP
from routing.metrics import Report, record_report
from routing.models import DesiredState
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success
from tests.routing.factories import RegistrationFactory, create_registration

from .pages import (
    LONG_TEXT,
    expand_all,
    get_group,
    scrolls_horizontally,
    wait_in_page,
    wait_until_listening,
)

pytestmark = pytest.mark.e2e

INDEX_URL = "/registry"
CAPABILITY_URL = "/registry/data-analysis"


@pytest.fixture
def providers(agentlens_url):
    """Create a provider of each health and desired state; return the best one."""
    RegistrationFactory(capability="web-search")
    create_registration("Unknown", Status.UNKNOWN)
    create_registration("Slow", Status.DEGRADED, priority=80)
    create_registration("Offline", Status.OFFLINE, priority=900)
    create_registration("Draining", desired_state=DesiredState.DRAINING)
    return create_registration(
        "Quick", priority=100, load=0.3, response_time_avg_ms=120
    )


def open_and_listen(page, url):
    """Open the page and wait until it has reloaded its results after an event."""
    with page.expect_websocket(
        lambda websocket: "/ws/capabilities" in websocket.url
    ) as websocket_info:
        page.goto(url)
    with page.expect_response(lambda response: is_htmx_request(response.request)):
        wait_until_listening(page, websocket_info.value, send_event)
    expect(page.locator(".htmx-request")).to_have_count(0)


def send_event():
    send_to_group(REGISTRY_GROUP, {"data": {"capability": "data-analysis"}})


def is_htmx_request(request):
    return "hx-request" in request.headers


def test_index_follows_events_and_keeps_groups_open(providers, open_as):
    page = open_as()
    open_and_listen(page, INDEX_URL)
    analysis = get_group(page, "data-analysis")
    analysis.locator("summary").click()
    page.evaluate("window.isSamePage = true")

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
    expect(get_group(page, "web-search")).not_to_have_attribute(
        "open", re.compile(".*")
    )
    entry.delete()
    expect(row).to_have_count(0)
    expect(analysis.locator("tr", has_text="Quick")).to_be_visible()
    assert page.evaluate("window.isSamePage")


def test_live_update_keeps_search(providers, open_as):
    page = open_as()
    open_and_listen(page, INDEX_URL)
    page.get_by_role("searchbox").press_sequentially("web")
    expect(page.locator(".group-name")).to_have_text(["web-search"])

    service.register(CatalogEntryFactory(), "web-scraping")
    expect(page.locator(".group-name")).to_have_text(["web-scraping", "web-search"])
    expect(page.get_by_role("searchbox")).to_have_value("web")


def test_live_update_keeps_focus(providers, open_as):
    page = open_as()
    open_and_listen(page, INDEX_URL)
    summary = get_group(page, "web-search").locator("summary")
    summary.focus()
    service.register(CatalogEntryFactory(display_name="Newcomer"), "data-analysis")

    expect(get_group(page, "data-analysis").locator("tr")).to_have_count(7)
    expect(summary).to_be_focused()


def test_continuous_events_do_not_delay_updates(providers, open_as):
    page = open_as()
    open_and_listen(page, INDEX_URL)
    service.register(CatalogEntryFactory(), "translation")
    new_group = page.locator(".group-name", has_text="translation")

    def is_updated():
        send_event()
        return new_group.count() == 1

    wait_in_page(page, is_updated)


def test_live_update_keeps_scroll_position(providers, open_as):
    page = open_as(viewport={"width": 390, "height": 600})
    open_and_listen(page, INDEX_URL)
    get_group(page, "data-analysis").locator("summary").click()
    page.evaluate("scrollTo(0, 900)")
    service.register(CatalogEntryFactory(), "translation")
    expect(page.locator(".group-name", has_text="translation")).to_have_count(1)

    assert page.evaluate("scrollY") == 900


def test_page_polls_for_metrics_without_events(providers, open_as):
    page = open_as(fake_clock=True)
    page.goto(f"{CAPABILITY_URL}?strategy=priority")
    first = page.locator("#order tbody tr").first
    expect(first).to_contain_text("(1 − load 0.3)")
    record_report(providers.pk, Report(gauges={"load_score": 0.1}))
    page.clock.run_for(12_000)

    expect(first).to_contain_text("(1 − load 0.1)")


def test_routing_preview_follows_events(providers, open_as):
    page = open_as()
    open_and_listen(page, f"{CAPABILITY_URL}?strategy=priority")
    first = page.locator("#order tbody tr").first
    expect(first).to_contain_text("Priority 100 × health 1 (healthy) × (1 − load 0.3)")
    service.register(
        CatalogEntryFactory(display_name="Newcomer"), "data-analysis", priority=777
    )

    expect(first).to_contain_text("Newcomer")
    expect(first).to_contain_text("Priority 777 × health 1 (healthy) × (1 − load 0)")


def test_routing_preview_shows_removal_of_last_provider(agentlens_url, open_as):
    registration = create_registration("Quick")
    page = open_as(allow_errors=True)
    open_and_listen(page, CAPABILITY_URL)
    expect(page.locator("#order tbody tr")).to_contain_text("Quick")
    service.unregister(registration)

    expect(page.locator("#order")).not_to_contain_text("Quick")


def test_routing_preview_works_with_keyboard(providers, open_as):
    page = open_as()
    page.goto(INDEX_URL)
    get_group(page, "data-analysis").locator("summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr", has_text="Quick")).to_be_visible()
    get_group(page, "data-analysis").get_by_role("link", name="Preview routing").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("data-analysis")
    page.get_by_label("Strategy").focus()
    page.keyboard.press("f")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type('{"a": 1')
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("strategy=fastest_response"))
    expect(page.locator("#order tbody tr").first).to_contain_text(
        "1 s ÷ response time 120 ms"
    )
    expect(page.get_by_text("metadata_filter is not JSON")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False])
def test_editor_updates_registration(providers, open_as, javascript):
    page = open_as("Editor", java_script_enabled=javascript)
    page.goto(CAPABILITY_URL)
    form = page.locator("form.registration-form", has_text="Quick")
    form.get_by_label("Priority").fill("7")
    form.get_by_label("Status").select_option("Inactive")
    form.get_by_role("button", name="Save Quick").click()

    message = "The registration of Quick was updated."
    expect(page.get_by_role("status")).to_have_text(message)
    row = page.locator("#order tr", has_text="Quick")
    expect(row).to_contain_text("inactive")
    expect(row).to_contain_text("Receives no requests")


def test_registry_works_without_javascript(providers, open_as):
    page = open_as(java_script_enabled=False)
    page.goto(INDEX_URL)
    page.get_by_role("searchbox").fill("data")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator(".group-name")).to_have_text(["data-analysis"])
    get_group(page, "data-analysis").locator("summary").click()
    get_group(page, "data-analysis").get_by_role("link", name="Preview routing").click()
    page.get_by_label("Strategy").select_option("least loaded")
    page.get_by_role("button", name="Preview routing").click()

    expect(page.locator("#order tbody tr").first).to_contain_text("1 − load 0.3")
    expect(page.locator("#order tbody tr")).to_have_count(5)


def test_registry_pages_pass_axe(providers, open_as, check_accessibility):
    page = open_as("Editor")
    page.goto(INDEX_URL)
    expand_all(page)
    check_accessibility(page, "registry")
    page.goto(f"{INDEX_URL}?q=nonsense")
    check_accessibility(page, "nothing found")
    for query in ("", "?strategy=load_balance", "?metadata={", "?version=9.9.9"):
        page.goto(CAPABILITY_URL + query)
        check_accessibility(page, f"capability {query}")


def test_empty_registry_passes_axe(agentlens_url, open_as, check_accessibility):
    page = open_as()
    page.goto(INDEX_URL)
    check_accessibility(page, "empty")


@pytest.mark.parametrize("width", [390, 1280])
def test_registry_pages_do_not_scroll_horizontally(providers, open_as, width):
    name = "very-long-name" * 7
    registration = create_registration(
        LONG_TEXT, capability=name, version="1.0.0-" + "x" * 90, load=1 / 3
    )
    RegistrationFactory(entry=registration.entry)
    page = open_as("Editor", viewport={"width": width, "height": 800})
    metadata = json.dumps({"a": LONG_TEXT})
    too_wide = []
    for url in (
        INDEX_URL,
        f"{INDEX_URL}?q={LONG_TEXT}",
        CAPABILITY_URL,
        f"/registry/{name}",
        f"{CAPABILITY_URL}?metadata={metadata}&version={LONG_TEXT[:90]}",
    ):
        page.goto(url)
        expand_all(page)
        if scrolls_horizontally(page):
            too_wide.append(url)
    assert too_wide == []


def test_retry_button_reloads_results_after_failed_live_update(providers, open_as):
    page = open_as(allow_errors=True, fake_clock=True)
    page.goto(INDEX_URL)
    page.route("**/registry", lambda route: route.fulfill(status=500))
    page.clock.run_for(15_000)
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
    page.unroute_all()

    # The clock no longer advances, so only the button can send this request.
    page.clock.pause_at(page.evaluate("Date.now()") + 1_000)
    with page.expect_response(lambda response: is_htmx_request(response.request)):
        page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("alert")).to_be_hidden()


def test_providers_table_fits_without_scrolling(providers, open_as):
    page = open_as()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(INDEX_URL)
    get_group(page, "data-analysis").locator("summary").click()

    table = get_group(page, "data-analysis").locator(".table-wrap")
    expect(table.get_by_text("fastest response").first).to_be_visible()
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
