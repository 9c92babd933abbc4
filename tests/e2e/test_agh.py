"""A peer that greeted, as people see it."""

import time

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from capabilities.protocols.agh.envelopes import Envelope
from catalog.integrations.agh.inbox import process_envelope
from tests.catalog.integrations.agh.agh import (
    build_document,
    build_greet,
    build_transfer,
    get_entry,
)

pytestmark = pytest.mark.e2e


def violations(page) -> list[str]:
    """What axe finds wrong, in light and in dark."""
    page.evaluate(AXE_SCRIPT)
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        told = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        found += [f"{scheme}: {fault['id']}" for fault in told]
    return found


def test_from_a_peer_to_its_document_and_on_to_the_capability(server, open_as):
    told = build_document(
        "build/site",
        context_needed=["The repository"],
        execution_outline=["Inspect", "Build"],
        constraints=["No mocks"],
    )
    for said in (build_greet("build/site", "review-copy"), build_transfer(told)):
        process_envelope(Envelope.parse(said, int(time.time())))
    page = open_as()
    page.goto(f"/catalog/{get_entry().pk}")
    outcome = page.get_by_text("build/site is done.", exact=True)
    expect(outcome).to_be_hidden()
    page.get_by_text("Full document").click()

    expect(outcome).to_be_visible()
    expect(page.get_by_text("Verified", exact=True)).to_be_visible()
    expect(page.locator("details.document dd li")).to_have_text(
        ["The repository", "Inspect", "Build", "No mocks"]
    )
    expect(page.get_by_text(told["digest"], exact=True)).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="build/site", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("build/site")
    expect(page.get_by_role("link", name="Designer").first).to_be_visible()
    assert violations(page) == []
