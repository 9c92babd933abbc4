"""Live updates of open pages, and refreshes."""

from itertools import cycle

import pytest
from playwright.sync_api import expect

from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failure, success
from tests.registered_agents import agent_card, register_agent
from tests.servers import reply

from .pages import expand_all, wait_until_listening

pytestmark = pytest.mark.e2e

URLS = {
    "catalog": "/catalog",
    "capabilities": "/catalog/capabilities",
    "capability": "/catalog/capabilities/a2a.skill%3A%3ATranslate%20text",
    "agent": "/catalog/{}",
}
on_each_page = pytest.mark.parametrize("url", URLS.values(), ids=URLS)


@pytest.fixture
def polyglot(agentlens_url):
    return register_agent(agent_card("Polyglot", "Translate text"))


def open_and_expand(page, url, entry):
    """Open the page and expand its groups."""
    page.goto(url.format(entry.pk))
    expand_all(page, ".group summary")


def open_and_listen(page, url, entry):
    """Open the page and wait until it receives an event about another agent."""
    other_entry, user = CatalogEntryFactory(), UserFactory()
    statuses = cycle([Status.DEPRECATED, Status.ACTIVE])
    with page.expect_websocket() as websocket_info:
        open_and_expand(page, url, entry)
    wait_until_listening(
        page,
        websocket_info.value,
        lambda: curate(other_entry, {"status": next(statuses)}, by=user),
    )


def get_badge(page, entry):
    return page.locator(f'[data-entry="{entry.pk}"] .badge')


@on_each_page
def test_status_badge_follows_probes(polyglot, open_as, url):
    page = open_as()
    open_and_listen(page, url, polyglot)
    page.evaluate("window.isSamePage = true")
    badge = get_badge(page, polyglot)
    expect(badge).to_have_text("Active")

    for probe, status in [
        (failure, "Degraded"),
        (failure, "Degraded"),
        (failure, "Offline"),
        (success, "Active"),
    ]:
        record_probe(polyglot, probe())
        expect(badge).to_have_text(status)
        expect(badge).to_be_visible()
        expect(badge.locator("svg")).to_have_count(1)
    assert page.evaluate("window.isSamePage")


def test_agent_page_updates_result_of_last_probe(polyglot, open_as):
    page = open_as()
    open_and_listen(page, URLS["agent"], polyglot)
    record_probe(polyglot, failure())

    health = page.get_by_role("region", name="Health")
    expect(health).to_contain_text("Last probed just now: HTTP 503")


@on_each_page
def test_status_badge_without_javascript_changes_on_reload(polyglot, open_as, url):
    page, live_page = open_as(java_script_enabled=False), open_as()
    open_and_listen(live_page, url, polyglot)
    open_and_expand(page, url, polyglot)
    badge = get_badge(page, polyglot)
    record_probe(polyglot, failure())
    expect(get_badge(live_page, polyglot)).to_have_text("Degraded")
    expect(badge).to_have_text("Active")
    expect(badge).to_be_visible()

    open_and_expand(page, url, polyglot)
    expect(badge).to_have_text("Degraded")


def import_from_page(page, url):
    page.goto("/catalog/register")
    page.get_by_label("URL:", exact=True).fill(url)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Translator")


@pytest.mark.parametrize("javascript", [True, False])
def test_refresh_shows_changes_and_applies_them(card_server, open_as, javascript):
    page = open_as("Editor", java_script_enabled=javascript)
    import_from_page(page, card_server.url("/card"))
    new_card = card_bytes(version="2.0.0", skills=[skill("Interpret speech")])
    card_server.routes["/card"] = reply(body=new_card)
    page.get_by_role("button", name="Refresh").click()
    changes = page.get_by_role("region", name="Changes")
    expect(changes).to_contain_text("1 breaking change")
    expect(changes).to_contain_text("1 added, 1 removed, 0 changed")
    expect(changes.locator(".breaking")).to_contain_text("Translate text")
    expect(changes.locator(".breaking strong")).to_have_text("breaking")
    assert CatalogEntry.objects.get().agent_type.version == "1.0.0"

    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("status")).to_have_text("“Translator” was updated.")
    versions = page.get_by_role("region", name="Versions (2)")
    expect(versions.locator("tbody tr")).to_contain_text(["2.0.0", "1.0.0"])
    current = versions.locator("tr", has_text="current")
    expect(current).to_contain_text("1 added, 1 removed, 0 changed")
    expect(current.locator(".breaking")).to_contain_text("Translate text")


def test_canceled_refresh_changes_nothing(card_server, open_as):
    page = open_as("Editor")
    import_from_page(page, card_server.url("/card"))
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("status")).to_have_text("No changes found.")
    card_server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))
    page.get_by_role("button", name="Refresh").click()
    page.get_by_role("link", name="Cancel").click()

    expect(page.get_by_role("region", name="Versions (1)")).to_be_visible()
    expect(page.get_by_role("region", name="Capabilities")).to_contain_text("Translate")
