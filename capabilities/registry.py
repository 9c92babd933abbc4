"""A registry that apps fill in their `AppConfig.ready()`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Registrable(Protocol):
    @property
    def slug(self) -> str: ...

    @property
    def label(self) -> str: ...


T = TypeVar("T", bound=Registrable)


class DuplicateSlug(ValueError):
    """Two apps register the same slug, which stops Django at start-up."""


class Registry(Generic[T]):
    """Items by slug, in the order of their registration."""

    def __init__(self, item_label: str) -> None:
        self.item_label = item_label
        self._items: dict[str, T] = {}

    def register(self, *items: T) -> None:
        for item in items:
            if item.slug in self._items:
                raise DuplicateSlug(
                    f"{self.item_label} slug {item.slug!r} is already registered"
                )
            self._items[item.slug] = item

    def get(self, slug: str) -> T | None:
        return self._items.get(slug)

    def choices(self) -> list[tuple[str, str]]:
        return [(item.slug, item.label) for item in self]

    @contextmanager
    def temporarily(self, *items: T) -> Iterator[None]:
        """Add or replace items until the block ends; for tests."""
        original_items = dict(self._items)
        self._items.update({item.slug: item for item in items})
        try:
            yield
        finally:
            self._items = original_items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items.values())

    def __contains__(self, slug: object) -> bool:
        return slug in self._items

    def __len__(self) -> int:
        return len(self._items)
