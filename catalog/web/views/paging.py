from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

T = TypeVar("T")

CAPABILITIES_PER_PAGE = 50
MAX_SHOWN = 1_000
MAX_PAGE = 1_000_000
MAX_DIGITS = 9


def parse_positive_int(text: str, default: int, limit: int) -> int:
    """Parse a number from a URL, capped at `limit`; return `default` if invalid."""
    is_valid = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
    return min(int(text), limit) or default if is_valid else default


@dataclass(frozen=True, slots=True)
class Window:
    """The visible part of a list: it starts at a page and may span several pages."""

    page: int = 1
    size: int = CAPABILITIES_PER_PAGE
    total: int = 0

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> "Window":
        page = parse_positive_int(parameters.get("page", ""), 1, MAX_PAGE)
        shown = parse_positive_int(
            parameters.get("shown", ""), CAPABILITIES_PER_PAGE, MAX_SHOWN
        )
        # Rounded up to full pages, so that the next page starts where this ends.
        pages = -(-shown // CAPABILITIES_PER_PAGE)
        return cls(page, pages * CAPABILITIES_PER_PAGE)

    def with_total(self, total: int) -> "Window":
        return replace(self, total=total)

    def split_items(self, items: list[T]) -> tuple[T | None, list[T], T | None]:
        """Split off the items before and after the window, fetched along with it."""
        previous = items.pop(0) if self.start and items else None
        following = items[self.size] if len(items) > self.size else None
        return previous, items[: self.size], following

    @property
    def start(self) -> int:
        return (self.page - 1) * CAPABILITIES_PER_PAGE

    @property
    def end(self) -> int:
        return min(self.start + self.size, self.total)

    @property
    def has_more(self) -> bool:
        return self.end < self.total

    @property
    def needs_paging(self) -> bool:
        """Whether the list has more than one page or was extended beyond the first."""
        is_extended = self.size > CAPABILITIES_PER_PAGE
        return self.has_more or self.page > 1 or is_extended

    @property
    def can_grow(self) -> bool:
        return self.next_size <= MAX_SHOWN

    @property
    def next_size(self) -> int:
        return self.size + CAPABILITIES_PER_PAGE

    @property
    def next_page(self) -> int:
        return self.page + self.size // CAPABILITIES_PER_PAGE

    @property
    def last_page(self) -> int:
        return max(1, -(-self.total // CAPABILITIES_PER_PAGE))

    @property
    def previous_page(self) -> int:
        return self.page - 1
