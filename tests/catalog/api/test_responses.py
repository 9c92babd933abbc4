"""Response serializers produce the same output as plain ones, but faster."""

from types import SimpleNamespace

import pytest
from rest_framework import serializers

from catalog.api.base import ResponseSerializer


class UpperField(serializers.CharField):
    def to_representation(self, value):
        return value.upper()


def define_serializer(base):
    """Return a serializer with nested ones, all derived from the base class."""

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
    owner = SimpleNamespace(name="ann")
    unnamed_owner = SimpleNamespace(name=None)
    items = [
        SimpleNamespace(owner=owner, price=1.5, width=3, details={"a": [1, None]}),
        SimpleNamespace(owner=unnamed_owner, price=None, width=0, details={}),
    ]
    return SimpleNamespace(number="7", items=items)


def test_output_equals_output_of_plain_serializer(order):
    plain = define_serializer(serializers.Serializer)
    fast = define_serializer(ResponseSerializer)

    assert fast(order).data == plain(order).data
    assert list(fast(order).data["items"][0]) == ["label", "price", "size", "details"]


def test_excluded_members_are_left_out(order):
    serializer = define_serializer(ResponseSerializer)()

    assert serializer.to_representation(order, {"items"}) == {"number": "7"}


def test_subclass_adds_members_to_inherited_ones():
    class PersonSerializer(ResponseSerializer):
        name = serializers.CharField()

    class AdultSerializer(PersonSerializer):
        age = serializers.IntegerField()

    person = SimpleNamespace(name="ann", age=30)

    assert PersonSerializer(person).data == {"name": "ann"}
    assert list(AdultSerializer(person).data.items()) == [("name", "ann"), ("age", 30)]


def test_object_without_declared_attribute_raises_attribute_error(order):
    del order.number

    with pytest.raises(AttributeError):
        _ = define_serializer(ResponseSerializer)(order).data
