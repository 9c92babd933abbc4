"""A real Chromium against the served application."""

import os
import shutil

import pytest
from django.test import Client
from playwright.sync_api import expect, sync_playwright

from tests.conftest import run_agentlens
from tests.factories import UserFactory

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE_MS = 20_000
# What browser and htmx say of an answer that is meant to be an error.
REFUSED = ("Failed to load resource", "Response Status Error Code")
# What htmx says of a question that a newer one took the place of.
REPLACED = ("htmx:sendAbort", "htmx:afterRequest")


@pytest.fixture(scope="session", autouse=True)
def _database_beside_an_event_loop():
    """Playwright keeps a loop running in this thread, which Django would refuse."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


@pytest.fixture(scope="session", autouse=True)
def _patience():
    """Of what is expected of a page, for a machine that has much else to do."""
    expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address():
    with run_agentlens() as url:
        yield url


@pytest.fixture
def server(address, transactional_db):
    """One server for all tests, and for each of them an empty catalog."""
    return address


@pytest.fixture(scope="session")
def usual(chromium, address):
    """A browser that has been here before; it forgets who it was with each test."""
    context = chromium.new_context(base_url=address)
    yield context
    context.close()


@pytest.fixture
def open_page(chromium, server, usual):
    """Opens pages, unusual ones in a browser of their own; any complaint fails."""
    pages, complaints = [], []

    def complain(text, refusals):
        refused = refusals and text.startswith(REFUSED)
        if not refused and not text.startswith(REPLACED):
            complaints.append(text)

    def open_one(*, refusals=False, **options):
        browser = chromium.new_context(base_url=server, **options) if options else usual
        page = browser.new_page()
        pages.append(page)
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda m: m.type == "error" and complain(m.text, refusals))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda r: r.url.startswith(server) or complaints.append(f"asked {r.url}"),
        )
        return page

    yield open_one
    for page in pages:
        page.close() if page.context is usual else page.context.close()
    usual.clear_cookies()
    assert not complaints


@pytest.fixture
def log_in(server):
    """Logs a new user of the role in, as if it had been through the login page."""

    def known(page, role):
        user = UserFactory(role=role)
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        page.context.add_cookies(
            [{"name": "sessionid", "value": session, "url": server}]
        )
        return user

    return known


@pytest.fixture
def open_as(open_page, log_in):
    """Opens a page for somebody of a role; a viewer, if not told otherwise."""

    def open_one(role="Viewer", **options):
        page = open_page(**options)
        log_in(page, role)
        return page

    return open_one
