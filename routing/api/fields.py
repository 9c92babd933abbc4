"""Fields of responses that convert what a provider holds to what the API shows."""

from typing import Any

from rest_framework import serializers

from ..events import format_timestamp


class TimestampField(serializers.DateTimeField):
    """Show a moment in UTC, to the second."""

    def to_representation(self, value: Any) -> str | None:
        return format_timestamp(value)


class SecondsField(serializers.CharField):
    """Show milliseconds as seconds: `1.2s`."""

    def to_representation(self, value: float) -> str:
        return f"{value / 1000:.1f}s"


class RoundedField(serializers.FloatField):
    """Show a number with at most four decimals."""

    def to_representation(self, value: float) -> float:
        return round(value, 4)


class RemainderField(serializers.FloatField):
    """Show what a share, rounded, leaves of the whole."""

    def to_representation(self, value: float) -> float:
        return round(1 - round(value, 4), 4)


class PercentageField(serializers.FloatField):
    """Show a share in percent, with at most two decimals."""

    def to_representation(self, value: float) -> float:
        return round(value * 100, 2)


class TextOrNullField(serializers.CharField):
    """Show an empty text as null."""

    def to_representation(self, value: str) -> str | None:
        return value or None


class ConstantField(serializers.CharField):
    """Show the same text for every object."""

    def __init__(self, text: str, **kwargs: Any) -> None:
        super().__init__(source="*", **kwargs)
        self.text = text

    def to_representation(self, value: Any) -> str:
        return self.text
