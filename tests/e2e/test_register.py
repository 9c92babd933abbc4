"""Registering an agent on the pages."""

import json

import pytest
from playwright.sync_api import expect

from catalog.models import CatalogEntry
from tests.registered_agents import agent_card, mcp_definition

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("javascript", [True, False])
def test_pasted_definition_is_previewed_and_registered(open_as, javascript):
    page = open_as("Editor", java_script_enabled=javascript)
    page.goto("/catalog")
    page.get_by_role("link", name="Register an agent").first.click()
    definition = json.dumps(agent_card("Polyglot", "Translate text"), indent=2)
    page.get_by_label("Definition").fill(definition)
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("Polyglot")
    expect(preview).to_contain_text("Translate text")
    assert not CatalogEntry.objects.exists()

    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("status")).to_have_text("“Polyglot” is now in the catalog.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Polyglot")
    assert CatalogEntry.objects.get().agent_type.definition.decode() == definition


def test_errors_are_shown_with_paths_and_can_be_corrected(open_as):
    page = open_as("Editor")
    page.goto("/catalog/register")
    invalid = agent_card("", {}, version="")
    page.get_by_label("Definition").fill(json.dumps(invalid))
    page.get_by_role("button", name="Preview").click()
    errors = page.locator(".problems.error")
    expect(errors).to_contain_text("$.name")
    expect(errors).to_contain_text("$.skills[0].name")
    expect(page.get_by_role("button", name="Register")).to_have_count(0)
    assert json.loads(page.get_by_label("Definition").input_value()) == invalid

    page.get_by_label("Definition").fill(
        json.dumps(agent_card("Polyglot", "Translate"))
    )
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Register")).to_be_visible()


def test_uploaded_file_is_previewed_and_registered(open_as):
    page = open_as("Editor")
    page.goto("/catalog/register")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".errorlist")).to_contain_text(
        "Provide exactly one source: a URL, a pasted definition or a file."
    )
    content = json.dumps(mcp_definition("Stacks", "search_documents")).encode()
    file = {"name": "s.json", "mimeType": "application/json", "buffer": content}
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Preview")).to_contain_text(
        "search_documents"
    )
    page.get_by_role("button", name="Register").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Stacks")
