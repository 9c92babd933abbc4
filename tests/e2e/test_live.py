"""Pages that follow what happens while they are open, and what a refresh brings."""

import pytest
from playwright.sync_api import expect

from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failure, success
from tests.published import agent_card, register_agent
from tests.servers import LOOPBACK, reply, run_server

pytestmark = pytest.mark.e2e

PLACES = {
    "catalog": "/catalog",
    "capabilities": "/catalog/capabilities",
    "capability": "/catalog/capabilities/a2a.skill%3A%3ATranslate%20text",
    "agent": "/catalog/{}",
}
everywhere = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


@pytest.fixture
def polyglot(server):
    return register_agent(agent_card("Polyglot", "Translate text"))


@pytest.fixture
def card_server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as server:
        server.routes["/card"] = reply(body=card_bytes())
        yield server


def show(page, place, entry):
    """Open the place, and the groups on it."""
    page.goto(place.format(entry.pk))
    for summary in page.locator(".group summary").all():
        summary.click()


def wait_until_it_follows(page, socket):
    """Once it heard of another agent, it misses nothing about ours."""
    heard, herald, somebody = [], CatalogEntryFactory(), UserFactory()
    socket.on("framereceived", lambda _: heard.append(True))
    for n in range(200):
        curate(herald, {"status": ["deprecated", "active"][n % 2]}, by=somebody)
        page.wait_for_timeout(50)
        if heard:
            return
    raise AssertionError("nothing was heard")


def badge_of(page, entry):
    return page.locator(f'[data-entry="{entry.pk}"] .badge')


@everywhere
def test_the_badge_follows_how_the_agent_is(polyglot, open_as, place):
    page = open_as()
    with page.expect_websocket() as opened:
        show(page, place, polyglot)
    wait_until_it_follows(page, opened.value)
    page.evaluate("window.sameAsBefore = true")
    badge = badge_of(page, polyglot)
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
    assert page.evaluate("window.sameAsBefore")


def test_how_it_was_found_to_be_follows_on_its_page(polyglot, open_as):
    page = open_as()
    with page.expect_websocket() as opened:
        show(page, PLACES["agent"], polyglot)
    wait_until_it_follows(page, opened.value)
    record_probe(polyglot, failure())

    health = page.get_by_role("region", name="Health")
    expect(health).to_contain_text("Last probed just now: HTTP 503")


@everywhere
def test_without_javascript_it_is_as_it_was_on_loading(polyglot, open_as, place):
    page = open_as(java_script_enabled=False)
    show(page, place, polyglot)
    badge = badge_of(page, polyglot)
    record_probe(polyglot, failure())
    page.wait_for_timeout(200)
    expect(badge).to_have_text("Active")
    expect(badge).to_be_visible()

    show(page, place, polyglot)
    expect(badge).to_have_text("Degraded")


def import_by_hand(page, url):
    page.goto("/catalog/register")
    page.get_by_label("URL:", exact=True).fill(url)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Translator")


@pytest.mark.parametrize("javascript", [True, False])
def test_a_refresh_shows_the_difference_and_then_applies_it(
    card_server, open_as, javascript
):
    page = open_as("Editor", java_script_enabled=javascript)
    import_by_hand(page, card_server.url("/card"))
    newer = card_bytes(version="2.0.0", skills=[skill("Interpret speech")])
    card_server.routes["/card"] = reply(body=newer)
    page.get_by_role("button", name="Refresh").click()
    difference = page.get_by_role("region", name="What changed")
    expect(difference).to_contain_text("1 removal that clients may rely on")
    expect(difference).to_contain_text("1 added, 1 removed, 0 changed")
    expect(difference.locator(".breaking")).to_contain_text("Translate text")
    expect(difference.locator(".breaking strong")).to_have_text("breaking")
    assert CatalogEntry.objects.get().agent_type.version == "1.0.0"

    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("status")).to_have_text("“Translator” was updated.")
    versions = page.get_by_role("region", name="Versions (2)")
    expect(versions.locator("tbody tr")).to_contain_text(["2.0.0", "1.0.0"])
    current = versions.locator("tr", has_text="current")
    expect(current).to_contain_text("1 added, 1 removed, 0 changed")
    expect(current.locator(".breaking")).to_contain_text("Translate text")


def test_what_is_left_as_it_is_stays_as_it_was(card_server, open_as):
    page = open_as("Editor")
    import_by_hand(page, card_server.url("/card"))
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("status")).to_have_text("The definition is as it was.")
    card_server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))
    page.get_by_role("button", name="Refresh").click()
    page.get_by_role("link", name="Leave it as it is").click()

    expect(page.get_by_role("region", name="Versions (1)")).to_be_visible()
    expect(page.get_by_role("region", name="Capabilities")).to_contain_text("Translate")
