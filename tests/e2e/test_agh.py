"""The page of an AGH peer with a transferred document."""

import time

import pytest
from playwright.sync_api import expect

from capabilities.protocols.agh.envelopes import Envelope
from catalog.integrations.agh.inbox import process_envelope
from tests.catalog.integrations.agh.envelopes import (
    build_document,
    build_greet,
    build_transfer,
    get_entry,
)

pytestmark = pytest.mark.e2e


def test_peer_page_shows_transferred_document_and_links_capability(
    agentlens_url, open_as, check_accessibility
):
    document = build_document(
        "build/site",
        context_needed=["The repository"],
        execution_outline=["Inspect", "Build"],
        constraints=["No mocks"],
    )
    for message in (build_greet("build/site", "review-copy"), build_transfer(document)):
        process_envelope(Envelope.parse(message, int(time.time())))
    page = open_as()
    page.goto(f"/catalog/{get_entry().pk}")
    outcome = page.get_by_text("build/site is done.", exact=True)
    expect(outcome).to_be_hidden()
    page.get_by_text("Full document").click()

    expect(outcome).to_be_visible()
    expect(page.get_by_text("Verified", exact=True)).to_be_visible()
    expect(page.locator("details.capability-document dd li")).to_have_text(
        ["The repository", "Inspect", "Build", "No mocks"]
    )
    expect(page.get_by_text(document["digest"], exact=True)).to_be_visible()
    check_accessibility(page, "peer")
    page.get_by_role("link", name="build/site", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("build/site")
    expect(page.get_by_role("link", name="Designer").first).to_be_visible()
    check_accessibility(page, "capability")
