"""Responses are what plain serializers of the same fields would write, only faster."""

from types import SimpleNamespace

import pytest
from rest_framework import serializers

from catalog.api.base import ResponseSerializer


class UpperField(serializers.CharField):
    def to_representation(self, value):
        return value.upper()


def declare(base):
    """The same fields on another base."""

    class Size(base):
        width = serializers.IntegerField()

    class Item(base):
        label = UpperField(source="owner.name", allow_null=True)
        price = serializers.FloatField(allow_null=True)
        size = Size(source="*")
        details = serializers.DictField()

    class Order(base):
        number = serializers.CharField()
        items = Item(many=True)

    return Order


@pytest.fixture
def order():
    owner, stranger = SimpleNamespace(name="ann"), SimpleNamespace(name=None)
    items = [
        SimpleNamespace(owner=owner, price=1.5, width=3, details={"a": [1, None]}),
        SimpleNamespace(owner=stranger, price=None, width=0, details={}),
    ]
    return SimpleNamespace(number="7", items=items)


def test_the_answer_is_that_of_a_plain_serializer(order):
    plain, fast = declare(serializers.Serializer), declare(ResponseSerializer)

    assert fast(order).data == plain(order).data
    assert list(fast(order).data["items"][0]) == ["label", "price", "size", "details"]


def test_members_can_be_left_out(order):
    serializer = declare(ResponseSerializer)()

    assert serializer.to_representation(order, {"items"}) == {"number": "7"}


def test_a_subclass_adds_its_members_to_the_inherited_ones():
    class Named(ResponseSerializer):
        name = serializers.CharField()

    class Aged(Named):
        age = serializers.IntegerField()

    person = SimpleNamespace(name="ann", age=30)

    assert Named(person).data == {"name": "ann"}
    assert list(Aged(person).data.items()) == [("name", "ann"), ("age", 30)]


def test_an_object_without_a_declared_member_is_an_error(order):
    del order.number

    with pytest.raises(AttributeError):
        _ = declare(ResponseSerializer)(order).data
