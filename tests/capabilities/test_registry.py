from dataclasses import dataclass

import pytest

from capabilities.registry import DuplicateSlug, Registry


@dataclass(frozen=True)
class Fruit:
    slug: str
    label: str = ""


@pytest.fixture
def fruits() -> Registry[Fruit]:
    registry: Registry[Fruit] = Registry("Fruit")
    registry.register(Fruit("pear", "A pear"), Fruit("apple", "An apple"))
    return registry


def test_items_keep_registration_order(fruits):
    fruits.register(Fruit("banana"))

    assert [fruit.slug for fruit in fruits] == ["pear", "apple", "banana"]
    assert len(fruits) == 3


def test_registering_existing_slug_is_rejected(fruits):
    with pytest.raises(DuplicateSlug, match="Fruit slug 'pear' is already registered"):
        fruits.register(Fruit("pear", "Another pear"))

    assert fruits.get("pear") == Fruit("pear", "A pear")


def test_registering_equal_slugs_in_one_call_is_rejected(fruits):
    with pytest.raises(DuplicateSlug):
        fruits.register(Fruit("fig"), Fruit("fig"))


def test_get_returns_item_by_slug_or_none(fruits):
    assert fruits.get("apple") == Fruit("apple", "An apple")
    assert fruits.get("plum") is None


def test_membership_is_by_slug(fruits):
    assert "pear" in fruits
    assert "plum" not in fruits
    assert Fruit("pear", "A pear") not in fruits


def test_choices_are_slugs_and_labels_in_order(fruits):
    assert fruits.choices() == [("pear", "A pear"), ("apple", "An apple")]


def test_temporary_items_are_removed_after_the_block(fruits):
    with fruits.temporarily(Fruit("plum"), Fruit("fig")):
        assert [fruit.slug for fruit in fruits] == ["pear", "apple", "plum", "fig"]

    assert [fruit.slug for fruit in fruits] == ["pear", "apple"]


def test_temporary_item_replaces_item_with_same_slug(fruits):
    with fruits.temporarily(Fruit("pear", "A better pear")):
        assert fruits.choices()[0] == ("pear", "A better pear")
        assert len(fruits) == 2

    assert fruits.get("pear") == Fruit("pear", "A pear")


def test_temporary_items_are_removed_after_an_exception(fruits):
    with pytest.raises(RuntimeError), fruits.temporarily(Fruit("plum")):
        raise RuntimeError

    assert "plum" not in fruits


def test_items_registered_inside_temporary_block_are_removed(fruits):
    with fruits.temporarily():
        fruits.register(Fruit("plum"))

    assert "plum" not in fruits


def test_temporary_blocks_can_be_nested(fruits):
    with fruits.temporarily(Fruit("plum", "outer")):
        with fruits.temporarily(Fruit("plum", "inner")):
            assert fruits.get("plum") == Fruit("plum", "inner")
        assert fruits.get("plum") == Fruit("plum", "outer")


def test_registries_are_independent(fruits):
    assert len(Registry("Fruit")) == 0
