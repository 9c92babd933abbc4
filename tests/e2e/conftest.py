"""A real Chromium and a server with an empty catalog for each test."""

import os
import shutil

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.test import Client
from playwright.sync_api import expect, sync_playwright

from tests.conftest import run_agentlens
from tests.factories import UserFactory

# Without preload, because axe resolves the @import rules of stylesheets wrongly.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False}
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
TIMEOUT_MS = 20_000
# Messages of the browser and htmx about responses with an error status.
FAILED_REQUESTS = ("Failed to load resource", "Response Status Error Code")
# Messages of htmx about a request that a newer one replaced.
ABORTED_REQUESTS = ("htmx:sendAbort", "htmx:afterRequest")


@pytest.fixture(scope="session", autouse=True)
def _allow_database_in_event_loop():
    """Allow database access although Playwright runs an event loop in this thread."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


@pytest.fixture(scope="session", autouse=True)
def _expect_timeout():
    """Give expectations a timeout that suits a slow machine."""
    expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shared_agentlens_url():
    with run_agentlens() as url:
        yield url


@pytest.fixture
def agentlens_url(shared_agentlens_url, transactional_db):
    """Return the URL of AgentLens, which all tests share, with an empty catalog."""
    return shared_agentlens_url


@pytest.fixture(scope="session")
def default_context(chromium, shared_agentlens_url):
    """Provide a browser context that all tests share; its cookies are cleared."""
    context = chromium.new_context(base_url=shared_agentlens_url)
    yield context
    context.close()


@pytest.fixture
def open_page(chromium, agentlens_url, default_context):
    """Return a function that opens a page; any error on it fails the test.

    Pages with options get a browser context of their own. With `allow_errors`,
    responses with an error status do not fail the test. With `fake_clock`, the test
    controls the time of the page, which starts at 0.
    """
    pages, errors = [], []

    def add_error(text, allow_errors):
        is_allowed = allow_errors and text.startswith(FAILED_REQUESTS)
        if not is_allowed and not text.startswith(ABORTED_REQUESTS):
            errors.append(text)

    def open_new_page(*, allow_errors=False, fake_clock=False, **options):
        # A fake clock is installed in the whole context, so no test may share it.
        browser = (
            chromium.new_context(base_url=agentlens_url, **options)
            if options or fake_clock
            else default_context
        )
        page = browser.new_page()
        pages.append(page)
        if fake_clock:
            page.clock.install(time=0)
        page.set_default_timeout(TIMEOUT_MS)
        page.on(
            "console", lambda m: m.type == "error" and add_error(m.text, allow_errors)
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "request",
            lambda r: (
                r.url.startswith(agentlens_url) or errors.append(f"requested {r.url}")
            ),
        )
        return page

    yield open_new_page
    for page in pages:
        page.close() if page.context is default_context else page.context.close()
    default_context.clear_cookies()
    assert not errors


@pytest.fixture
def log_in(agentlens_url):
    """Return a function that logs a new user of a role in, without the login page."""

    def log_in_user(page, role):
        user = UserFactory(role=role)
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        page.context.add_cookies(
            [{"name": "sessionid", "value": session, "url": agentlens_url}]
        )
        return user

    return log_in_user


@pytest.fixture
def open_as(open_page, log_in):
    """Return a function that opens a page as a new user, by default a viewer."""

    def open_new_page(role="Viewer", **options):
        page = open_page(**options)
        log_in(page, role)
        return page

    return open_new_page


@pytest.fixture
def check_accessibility():
    """Return a function that runs axe on a page, in light and dark mode.

    The violations of all pages are collected, and any of them fails the test.
    """
    violations = {}

    def run_axe(page, name):
        page.evaluate(AXE_SCRIPT)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            results = page.evaluate("options => axe.run(options)", AXE_OPTIONS)
            for violation in results["violations"]:
                elements = [node["html"] for node in violation["nodes"]]
                violations[name, scheme, violation["id"]] = elements

    yield run_axe
    assert violations == {}
