"""Accessibility: axe finds no violations, and no page scrolls horizontally."""

import json

import pytest
from playwright.sync_api import expect

from catalog.models import CatalogEntry, Status
from tests.factories import skill
from tests.registered_agents import agent_card, mcp_definition, register_agent

from .pages import LONG_TEXT, expand_all, scrolls_horizontally

pytestmark = pytest.mark.e2e

CAPABILITIES_URL = "/catalog/capabilities"
LONG_URL = "https://far.example.com/" + "away/" * 60


@pytest.fixture
def catalog(agentlens_url):
    """Register agents with all kinds, statuses, tags and long texts."""
    register_agent(
        agent_card("Polyglot", "Translate text", description="One\nTwo"), latency_ms=120
    )
    tagged_skill = skill(tags=[f"tag {n}" for n in range(7)], description="Long. " * 40)
    entry = register_agent(
        agent_card("Polyglot", tagged_skill, version="2.0.0"), latency_ms=120
    )
    register_agent(agent_card("Babel", "Translate text"), Status.DEGRADED)
    register_agent(
        agent_card("Sleeper", "Translate text"), Status.OFFLINE, last_error="Refused"
    )
    register_agent(agent_card("Elder", "Translate text"), Status.DEPRECATED)
    register_agent(agent_card("Stranger", "Translate text"), Status.UNKNOWN)
    register_agent(mcp_definition("Stacks", "search_documents"))
    CatalogEntry.objects.update(categories=["Languages"], metadata={"Team": "North"})
    return entry


def test_pages_of_viewer_pass_axe(catalog, open_as, check_accessibility):
    page = open_as(allow_errors=True)
    page.goto(CAPABILITIES_URL)
    expand_all(page)
    check_accessibility(page, "capabilities")
    page.get_by_role("searchbox").fill("no such capability")
    expect(page.get_by_role("heading", level=2)).to_have_text("No capabilities found")
    check_accessibility(page, "no capabilities found")
    page.goto(f"{CAPABILITIES_URL}/a2a.skill::Translate text")
    page.locator(".tooltip").first.focus()
    check_accessibility(page, "capability")
    page.goto("/catalog?category=languages")
    check_accessibility(page, "catalog")
    page.goto(f"/catalog/{catalog.pk}")
    expand_all(page)
    check_accessibility(page, "agent")
    for url in ["/account", "/account/password", "/nowhere", "/catalog/register"]:
        page.goto(url)
        check_accessibility(page, url)


def test_pages_of_editor_pass_axe(open_as, check_accessibility):
    page = open_as("Editor")
    for url in ["/catalog", CAPABILITIES_URL]:
        page.goto(url)
        check_accessibility(page, f"empty {url}")
    page.goto("/catalog/register")
    for name, definition in [
        ("form errors", ""),
        ("preview", agent_card("Polyglot", "Translate text", iconUrl=7)),
        ("errors", agent_card("", {})),
    ]:
        page.get_by_label("Definition").fill(json.dumps(definition) * bool(definition))
        page.get_by_role("button", name="Preview").click()
        check_accessibility(page, name)


def test_login_page_passes_axe(open_page, check_accessibility):
    page = open_page()
    page.goto(f"/login?next={CAPABILITIES_URL}")
    check_accessibility(page, "login")
    page.get_by_label("Username").fill("nobody")
    page.get_by_label("Password").fill("nothing")
    page.get_by_role("button", name="Log in").click()
    check_accessibility(page, "login refused")


@pytest.fixture
def long_entry(agentlens_url):
    """Register agents whose texts are long and have no spaces."""
    register_agent(agent_card(LONG_TEXT, "Small", url=LONG_URL))
    long_skill = skill(LONG_TEXT, tags=[LONG_TEXT] * 7, description=LONG_TEXT * 3)
    entry = register_agent(
        agent_card(
            LONG_TEXT,
            long_skill,
            url=LONG_URL,
            description=LONG_TEXT * 3,
            version=LONG_TEXT[:100],
            provider={"organization": LONG_TEXT, "url": LONG_URL},
            securitySchemes={
                LONG_TEXT: {"httpAuthSecurityScheme": {"scheme": LONG_TEXT}}
            },
        ),
        last_error=LONG_TEXT,
        source_url=LONG_URL,
    )
    register_agent(mcp_definition(LONG_TEXT[:60], LONG_TEXT[:60]))
    CatalogEntry.objects.update(categories=[LONG_TEXT], metadata={LONG_TEXT: LONG_TEXT})
    return entry


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_do_not_scroll_horizontally(long_entry, open_as, width):
    page = open_as(
        "Editor", allow_errors=True, viewport={"width": width, "height": 800}
    )
    too_wide = []

    def measure(url):
        expand_all(page)
        if scrolls_horizontally(page):
            too_wide.append(url)

    for url in [
        CAPABILITIES_URL,
        f"{CAPABILITIES_URL}?q={LONG_TEXT}x",
        f"{CAPABILITIES_URL}/a2a.skill::{LONG_TEXT}",
        f"{CAPABILITIES_URL}/a2a.skill::{LONG_TEXT}x",
        "/catalog",
        f"/catalog?provider={LONG_TEXT}&category={LONG_TEXT}",
        f"/catalog/{long_entry.pk}",
        "/account",
        "/nowhere",
        "/catalog/register",
    ]:
        page.goto(url)
        measure(url)
    for invalid in [
        {},
        {LONG_TEXT: {}, "version": 7, "skills": [{LONG_TEXT: LONG_TEXT}]},
    ]:
        page.get_by_label("Definition").fill(
            json.dumps(agent_card(LONG_TEXT, LONG_TEXT) | invalid)
        )
        page.get_by_role("button", name="Preview").click()
        measure(f"register {invalid}")
    page.context.clear_cookies()
    page.goto("/login")
    measure("/login")
    assert too_wide == []
