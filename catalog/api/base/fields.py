"""Serializer fields that reject values of another JSON type instead of converting."""

from typing import Any

from rest_framework import serializers


class StrictCharField(serializers.CharField):
    """A string; numbers and booleans are rejected."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class BoundedListField(serializers.ListField):
    """A list whose length is checked before its items are validated."""

    def to_internal_value(self, data: Any) -> list[Any]:
        limit = self.max_length
        if limit is not None and isinstance(data, list) and len(data) > limit:
            self.fail("max_length", max_length=limit)
        return super().to_internal_value(data)


class StrictIntegerField(serializers.IntegerField):
    """An integer; strings, booleans and floats are rejected."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictFloatField(serializers.FloatField):
    """A number; strings and booleans are rejected."""

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)
