"""Coming in, being somebody here, and not being let in."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories import UserFactory
from tests.published import agent_card, register_agent

pytestmark = pytest.mark.e2e

INDEX = "/catalog/capabilities"


def known(name, role=None):
    user = UserFactory(username=name, role=role)
    user.set_password("correct horse")
    user.save()


def log_in_as(page, name, password="correct horse"):
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_a_stranger_logs_in_and_lands_where_he_was_going(open_page):
    register_agent(agent_card("Polyglot", "Translate text", "Proofread"))
    known("ada", "Viewer")
    page = open_page()
    page.goto(f"{INDEX}?q=proof")
    expect(page).to_have_url(re.compile(r"/login\?next=/catalog/capabilities%3Fq%3D"))
    log_in_as(page, "ada", "wrong")
    expect(page.locator(".errorlist")).to_contain_text("Please enter a correct")
    log_in_as(page, "ada")

    expect(page).to_have_url(re.compile(r"\?q=proof$"))
    expect(page.locator(".group-name")).to_have_text(["Proofread"])


def test_an_account_tells_its_roles_and_logs_out(open_as):
    page = open_as("Editor")
    page.goto("/account")
    expect(page.get_by_text("Editor", exact=True)).to_be_visible()
    expect(page.get_by_text("None. An administrator makes one")).to_be_visible()
    page.get_by_role("button", name="Log out").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


def test_somebody_without_a_role_is_told_and_shown_a_way_out(open_page):
    known("eve")
    page = open_page(refusals=True)
    page.goto("/login")
    log_in_as(page, "eve")
    expect(page.get_by_role("heading", level=1)).to_have_text("You may not see this")
    page.get_by_role("link", name="Your account").click()

    expect(page.get_by_text("None yet: ask an administrator")).to_be_visible()


def test_a_session_that_ends_leads_to_the_login_and_back(open_as):
    register_agent(agent_card("Polyglot", "Translate text", "Proofread"))
    known("ada", "Viewer")
    page = open_as()
    page.goto(INDEX)
    page.context.clear_cookies()
    page.get_by_role("searchbox").fill("proof")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    log_in_as(page, "ada")

    expect(page).to_have_url(re.compile(r"\?q=proof$"))
    expect(page.locator(".group-name")).to_have_text(["Proofread"])


def test_what_is_not_there_is_told_in_words(open_as):
    page = open_as(refusals=True)
    assert page.goto("/nowhere").status == 404
    expect(page.locator("main")).not_to_contain_text("Resolver404")
    page.get_by_role("link", name="Search capabilities").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Capabilities")
