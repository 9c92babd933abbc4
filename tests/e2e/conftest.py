"""A real Chromium against the served application."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

from tests.factories import UserFactory

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session", autouse=True)
def _database_beside_an_event_loop():
    """Playwright keeps a loop running in this thread, which Django would refuse."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, server):
    """Opens pages in contexts of their own; any complaint of the browser fails."""
    contexts, complaints = [], []

    def open_one(**options):
        context = chromium.new_context(base_url=server, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def log_in():
    """Logs a new user of the role in, through the login page."""

    def through(page, role):
        user = UserFactory(role=role)
        user.set_password("correct horse")
        user.save()
        page.goto("/admin/login/")
        page.fill("#id_username", user.username)
        page.fill("#id_password", "correct horse")
        page.click("input[type=submit]")
        return user

    return through
