"""Login, account and missing permissions."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories import UserFactory
from tests.registered_agents import agent_card, register_agent

pytestmark = pytest.mark.e2e

CAPABILITIES_URL = "/catalog/capabilities"


def create_user(name, role=None):
    user = UserFactory(username=name, role=role)
    user.set_password("correct horse")
    user.save()


def submit_login(page, name, password="correct horse"):
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_login_redirects_to_requested_page(open_page):
    register_agent(agent_card("Polyglot", "Translate text", "Proofread"))
    create_user("ada", "Viewer")
    page = open_page()
    page.goto(f"{CAPABILITIES_URL}?q=proof")
    expect(page).to_have_url(re.compile(r"/login\?next=/catalog/capabilities%3Fq%3D"))
    submit_login(page, "ada", "wrong")
    expect(page.locator(".errorlist")).to_contain_text("Please enter a correct")
    submit_login(page, "ada")

    expect(page).to_have_url(re.compile(r"\?q=proof$"))
    expect(page.locator(".group-name")).to_have_text(["Proofread"])


def test_account_shows_role_and_logs_out(open_as):
    page = open_as("Editor")
    page.goto("/account")
    expect(page.get_by_text("Editor", exact=True)).to_be_visible()
    expect(
        page.get_by_text("No tokens. An administrator can create one")
    ).to_be_visible()
    page.get_by_role("button", name="Log out").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


def test_user_without_role_sees_access_error_and_account_link(open_page):
    create_user("eve")
    page = open_page(allow_errors=True)
    page.goto("/login")
    submit_login(page, "eve")
    expect(page.get_by_role("heading", level=1)).to_have_text("You don't have access")
    page.get_by_role("link", name="Your account").click()

    expect(page.get_by_text("No role. Ask an administrator")).to_be_visible()


def test_expired_session_redirects_to_login_and_back(open_as):
    register_agent(agent_card("Polyglot", "Translate text", "Proofread"))
    create_user("ada", "Viewer")
    page = open_as()
    page.goto(CAPABILITIES_URL)
    page.context.clear_cookies()
    page.get_by_role("searchbox").fill("proof")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    submit_login(page, "ada")

    expect(page).to_have_url(re.compile(r"\?q=proof$"))
    expect(page.locator(".group-name")).to_have_text(["Proofread"])


def test_missing_page_shows_404_with_link(open_as):
    page = open_as(allow_errors=True)
    assert page.goto("/nowhere").status == 404
    expect(page.locator("main")).not_to_contain_text("Resolver404")
    page.get_by_role("link", name="Search capabilities").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Capabilities")
