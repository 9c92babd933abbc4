"""Response fields that convert stored values to the formats of the API."""

from typing import Any

from rest_framework import serializers

from ..events import format_timestamp


class TimestampField(serializers.DateTimeField):
    """A time in UTC, to the second."""

    def to_representation(self, value: Any) -> str | None:  # type: ignore[override]  # the stubs exclude None
        return format_timestamp(value)


class SecondsField(serializers.CharField):
    """Milliseconds, written as seconds: `1.2s`."""

    def to_representation(self, value: float) -> str:  # type: ignore[override]  # the stubs expect str
        return f"{value / 1000:.1f}s"


class RoundedField(serializers.FloatField):
    """A number rounded to four decimals."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]  # the stubs expect str
        return round(value, 4)


class ComplementField(serializers.FloatField):
    """1 minus a share, so that it and the rounded share add up to 1."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]  # the stubs expect str
        return round(1 - round(value, 4), 4)


class PercentageField(serializers.FloatField):
    """A share as a percentage, rounded to two decimals."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]  # the stubs expect str
        return round(value * 100, 2)


class StringOrNullField(serializers.CharField):
    """A string, or null if it is empty."""

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]  # the stubs exclude None
        return value or None


class ConstantField(serializers.CharField):
    """The same string for every object."""

    def __init__(self, constant: str, **kwargs: Any) -> None:
        super().__init__(source="*", **kwargs)
        self.constant = constant

    def to_representation(self, value: Any) -> str:
        return self.constant
