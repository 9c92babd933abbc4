from dataclasses import dataclass

import pytest

from capabilities.registry import AlreadyRegistered, Registry


@dataclass(frozen=True)
class Fruit:
    slug: str
    label: str = ""


@pytest.fixture
def fruits() -> Registry[Fruit]:
    registry: Registry[Fruit] = Registry("Fruit")
    registry.register(Fruit("pear", "A pear"), Fruit("apple", "An apple"))
    return registry


def test_items_keep_the_order_in_which_they_were_registered(fruits):
    fruits.register(Fruit("banana"))

    assert [fruit.slug for fruit in fruits] == ["pear", "apple", "banana"]
    assert len(fruits) == 3


def test_a_slug_that_is_taken_is_refused_by_name(fruits):
    with pytest.raises(AlreadyRegistered, match="Fruit 'pear' is taken"):
        fruits.register(Fruit("pear", "Another pear"))

    assert fruits.get("pear") == Fruit("pear", "A pear")


def test_two_equal_slugs_in_one_call_are_refused(fruits):
    with pytest.raises(AlreadyRegistered):
        fruits.register(Fruit("fig"), Fruit("fig"))


def test_get_finds_by_slug_and_answers_none_otherwise(fruits):
    assert fruits.get("apple") == Fruit("apple", "An apple")
    assert fruits.get("plum") is None


def test_membership_is_by_slug(fruits):
    assert "pear" in fruits
    assert "plum" not in fruits
    assert Fruit("pear", "A pear") not in fruits


def test_choices_are_slugs_and_labels_in_order(fruits):
    assert fruits.choices() == [("pear", "A pear"), ("apple", "An apple")]


def test_temporary_items_are_gone_after_the_block(fruits):
    with fruits.temporarily(Fruit("plum"), Fruit("fig")):
        assert [fruit.slug for fruit in fruits] == ["pear", "apple", "plum", "fig"]

    assert [fruit.slug for fruit in fruits] == ["pear", "apple"]


def test_a_temporary_item_takes_the_place_of_one_with_its_slug(fruits):
    with fruits.temporarily(Fruit("pear", "A better pear")):
        assert fruits.choices()[0] == ("pear", "A better pear")
        assert len(fruits) == 2

    assert fruits.get("pear") == Fruit("pear", "A pear")


def test_temporary_items_are_gone_even_when_the_block_fails(fruits):
    with pytest.raises(RuntimeError), fruits.temporarily(Fruit("plum")):
        raise RuntimeError

    assert "plum" not in fruits


def test_what_is_registered_inside_a_temporary_block_ends_with_it(fruits):
    with fruits.temporarily():
        fruits.register(Fruit("plum"))

    assert "plum" not in fruits


def test_temporary_blocks_nest(fruits):
    with fruits.temporarily(Fruit("plum", "outer")):
        with fruits.temporarily(Fruit("plum", "inner")):
            assert fruits.get("plum") == Fruit("plum", "inner")
        assert fruits.get("plum") == Fruit("plum", "outer")


def test_registries_share_nothing(fruits):
    assert len(Registry("Fruit")) == 0
