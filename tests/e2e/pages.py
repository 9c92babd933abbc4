"""Helpers for the pages of the catalog and the registry."""

from playwright.sync_api import Locator, Page

# Longer than any screen, without a space to break at.
LONG_TEXT = "Donaudampfschifffahrtsgesellschaft" * 8


def get_group(page: Page, name: str) -> Locator:
    """Return the collapsible group of the capability with this name."""
    return page.locator("details.group").filter(has=page.get_by_text(name, exact=True))


def expand_all(page: Page, selector: str = "summary") -> None:
    for summary in page.locator(selector).all():
        summary.click()


def scrolls_horizontally(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")
