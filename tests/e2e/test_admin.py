"""The admin and the API documentation."""

import json

import pytest
from playwright.sync_api import expect

from catalog.models import CatalogEntry, Status
from tests.factories import card

pytestmark = pytest.mark.e2e


def register_in_admin(page):
    page.goto("/admin/catalog/catalogentry/")
    page.click("text=Register an agent")
    page.fill("#id_definition", json.dumps(card(), indent=2))
    page.click("input[value=Preview]")
    expect(page.locator(".preview")).to_contain_text("Translate text")
    page.click("input[value=Register]")
    expect(page.locator(".messagelist")).to_contain_text("is now in the catalog")


@pytest.mark.parametrize("javascript", [True, False])
def test_editor_registers_agent_and_deprecates_it_with_reason(
    open_page, log_in, javascript
):
    page = open_page(java_script_enabled=javascript)
    log_in(page, "Editor")
    register_in_admin(page)

    page.click("text=Deprecate…")
    page.fill("#id_reason", "Replaced by Polyglot")
    page.click("input[value=Deprecate]")
    expect(page.locator(".messagelist")).to_contain_text("1 agent is now deprecated")

    page.click("text=Translator")
    page.click("text=History")
    expect(page.locator("#change-history")).to_contain_text("Replaced by Polyglot")
    assert CatalogEntry.objects.get().status == Status.DEPRECATED


def test_registration_form_shows_errors_with_paths(open_page, log_in):
    page = open_page()
    log_in(page, "Editor")
    page.goto("/admin/catalog/catalogentry/add/")
    page.fill("#id_definition", json.dumps(card(name="", skills=[{}])))
    page.click("input[value=Preview]")

    expect(page.locator(".problems.error")).to_contain_text("$.skills[0].name")
    expect(page.locator("input[value=Register]")).to_have_count(0)


def test_admin_creates_api_token_that_works(open_page, log_in):
    page = open_page()
    user = log_in(page, "Admin")
    page.goto("/admin/knox/authtoken/add/")
    page.select_option("#id_user", label=user.username)
    page.click("input[name=_save]")

    token = page.locator("#token").inner_text()
    response = page.request.get(
        "/api/v1/catalog", headers={"Authorization": f"Bearer {token}"}
    )
    assert response.ok


def test_api_documentation_lists_operations(open_page, log_in):
    page = open_page()
    log_in(page, "Viewer")
    page.goto("/api/v1/docs")

    expect(page.locator(".opblock").first).to_be_visible()
    expect(page.locator("body")).to_contain_text("/api/v1/catalog/register")
