"""Helpers for the pages of the catalog and the registry."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, WebSocket

from tests.waiting import wait_until

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


def wait_in_page(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until the condition is true, while Playwright handles events of the page."""
    wait_until(condition, sleep=lambda seconds: page.wait_for_timeout(seconds * 1000))


def wait_until_listening(
    page: Page, websocket: WebSocket, send_event: Callable[[], object]
) -> None:
    """Send events until the page receives one of them."""
    frames = []
    websocket.on("framereceived", lambda _: frames.append(True))

    def has_received_event() -> bool:
        if not frames:
            send_event()
        return bool(frames)

    wait_in_page(page, has_received_event)
