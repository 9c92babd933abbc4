"""Fields that take a value as it is, and convert none."""

from rest_framework import serializers


class TextField(serializers.CharField):
    """A text; a number is not taken for one."""

    def to_internal_value(self, data):
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class ShortListField(serializers.ListField):
    """A list whose length is looked at before each of its items is."""

    def to_internal_value(self, data):
        if isinstance(data, list) and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class WholeNumberField(serializers.IntegerField):
    """A whole number; neither a text nor true is taken for one."""

    def to_internal_value(self, data):
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class NumberField(serializers.FloatField):
    """A number; neither a text nor true is taken for one."""

    def to_internal_value(self, data):
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)
