from dataclasses import dataclass, replace

PAGE_SIZE = 50
SHOWN_LIMIT = 1_000
PAGE_LIMIT = 1_000_000
DIGITS = 9


def whole_number(text: str, default: int, limit: int) -> int:
    """The number a URL says, or the default: pages forgive."""
    plain = text.isascii() and text.isdigit() and len(text) <= DIGITS
    return min(int(text), limit) or default if plain else default


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of a list that is shown: from a page on, and so many of it."""

    page: int = 1
    size: int = PAGE_SIZE
    total: int = 0

    @classmethod
    def of(cls, parameters) -> "Window":
        page = whole_number(parameters.get("page", ""), 1, PAGE_LIMIT)
        shown = whole_number(parameters.get("shown", ""), PAGE_SIZE, SHOWN_LIMIT)
        # In whole pages: the next one begins where this ends.
        return cls(page, -(-shown // PAGE_SIZE) * PAGE_SIZE)

    def over(self, total: int) -> "Window":
        return replace(self, total=total)

    def parted(self, items: list) -> tuple:
        """What stands just before the window, and what stands in it."""
        if self.start == 0:
            return None, items[: self.size]
        return (items[0] if items else None), items[1:]

    @property
    def start(self) -> int:
        return (self.page - 1) * PAGE_SIZE

    @property
    def end(self) -> int:
        return min(self.start + self.size, self.total)

    @property
    def has_more(self) -> bool:
        return self.end < self.total

    @property
    def is_part(self) -> bool:
        """Whether there is, or was, more than a first page to see."""
        return self.has_more or self.page > 1 or self.size > PAGE_SIZE

    @property
    def can_grow(self) -> bool:
        return self.size + PAGE_SIZE <= SHOWN_LIMIT

    @property
    def grown(self) -> int:
        return self.size + PAGE_SIZE

    @property
    def next_page(self) -> int:
        return self.page + self.size // PAGE_SIZE

    @property
    def last_page(self) -> int:
        return max(1, -(-self.total // PAGE_SIZE))

    @property
    def previous_page(self) -> int:
        return self.page - 1
