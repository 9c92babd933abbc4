"""Pages everybody can use: axe finds nothing, and nothing runs out of the screen."""

import json

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from catalog.models import CatalogEntry, Status
from tests.factories import skill
from tests.published import agent_card, register_agent, mcp_definition

pytestmark = pytest.mark.e2e

INDEX = "/catalog/capabilities"
FAULTS = {"resultTypes": ["violations"]}
LONG = "Donaudampfschifffahrtsgesellschaft" * 8
FAR = "https://far.example.com/" + "away/" * 60


@pytest.fixture
def axe():
    """Fails if any page it was shown is faulty, in light or dark."""
    faults = {}

    def look(page, name):
        page.evaluate(AXE_SCRIPT)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate("options => axe.run(options)", FAULTS)
            for fault in found["violations"]:
                places = [node["html"] for node in fault["nodes"]]
                faults[name, scheme, fault["id"]] = places

    yield look
    assert faults == {}


@pytest.fixture
def catalog(server):
    """All that colours and shapes are for: kinds, tags, statuses, long texts."""
    register_agent(agent_card("Polyglot", "Translate text", description="One\nTwo"), latency_ms=120)
    tagged = skill(tags=[f"tag {n}" for n in range(7)], description="Long. " * 40)
    entry = register_agent(agent_card("Polyglot", tagged, version="2.0.0"), latency_ms=120)
    register_agent(agent_card("Babel", "Translate text"), Status.DEGRADED)
    register_agent(agent_card("Sleeper", "Translate text"), Status.OFFLINE, last_error="Refused")
    register_agent(agent_card("Elder", "Translate text"), Status.DEPRECATED)
    register_agent(agent_card("Stranger", "Translate text"), Status.UNKNOWN)
    register_agent(mcp_definition("Stacks", "search_documents"))
    CatalogEntry.objects.update(categories=["Languages"], metadata={"Team": "North"})
    return entry


def test_what_readers_see(catalog, open_as, axe):
    page = open_as(refusals=True)
    page.goto(INDEX)
    for summary in page.locator("summary").all():
        summary.click()
    axe(page, "capabilities")
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_role("heading", level=2)).to_have_text("No capabilities found")
    axe(page, "no capabilities found")
    page.goto(f"{INDEX}/a2a.skill::Translate text")
    page.locator(".tooltip").first.focus()
    axe(page, "capability")
    page.goto("/catalog?category=languages")
    axe(page, "catalog")
    page.goto(f"/catalog/{catalog.pk}")
    for summary in page.locator("summary").all():
        summary.click()
    axe(page, "agent")
    for place in ["/account", "/account/password", "/nowhere", "/catalog/register"]:
        page.goto(place)
        axe(page, place)


def test_what_editors_see(open_as, axe):
    page = open_as("Editor")
    for place in ["/catalog", INDEX]:
        page.goto(place)
        axe(page, f"empty {place}")
    page.goto("/catalog/register")
    for name, definition in [
        ("form errors", ""),
        ("preview", agent_card("Polyglot", "Translate text", iconUrl=7)),
        ("errors", agent_card("", {})),
    ]:
        page.get_by_label("Definition").fill(json.dumps(definition) * bool(definition))
        page.get_by_role("button", name="Preview").click()
        axe(page, name)


def test_what_strangers_see(open_page, axe):
    page = open_page()
    page.goto(f"/login?next={INDEX}")
    axe(page, "login")
    page.get_by_label("Username").fill("nobody")
    page.get_by_label("Password").fill("nothing")
    page.get_by_role("button", name="Log in").click()
    axe(page, "login refused")


@pytest.fixture
def endless(server):
    """Whatever a definition may say, without a space in it."""
    register_agent(agent_card(LONG, "Small", url=FAR))
    capable = skill(LONG, tags=[LONG] * 7, description=LONG * 3)
    entry = register_agent(
        agent_card(
            LONG,
            capable,
            url=FAR,
            description=LONG * 3,
            version=LONG[:100],
            provider={"organization": LONG, "url": FAR},
            securitySchemes={LONG: {"httpAuthSecurityScheme": {"scheme": LONG}}},
        ),
        last_error=LONG,
        source_url=FAR,
    )
    register_agent(mcp_definition(LONG[:60], LONG[:60]))
    CatalogEntry.objects.update(categories=[LONG], metadata={LONG: LONG})
    return entry


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways(endless, open_as, width):
    page = open_as("Editor", refusals=True, viewport={"width": width, "height": 800})
    too_wide = []

    def measure(place):
        for summary in page.locator("summary").all():
            summary.click()
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(place)

    for place in [
        INDEX,
        f"{INDEX}?q={LONG}x",
        f"{INDEX}/a2a.skill::{LONG}",
        f"{INDEX}/a2a.skill::{LONG}x",
        "/catalog",
        f"/catalog?provider={LONG}&category={LONG}",
        f"/catalog/{endless.pk}",
        "/account",
        "/nowhere",
        "/catalog/register",
    ]:
        page.goto(place)
        measure(place)
    for faulty in [{}, {LONG: {}, "version": 7, "skills": [{LONG: LONG}]}]:
        page.get_by_label("Definition").fill(json.dumps(agent_card(LONG, LONG) | faulty))
        page.get_by_role("button", name="Preview").click()
        measure(f"register {faulty}")
    page.context.clear_cookies()
    page.goto("/login")
    measure("/login")
    assert too_wide == []
