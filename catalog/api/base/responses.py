"""A base for serializers that only write responses, for endpoints that must be fast.

Django REST framework copies and binds every field for each serializer instance. Here
the fields are read once per class, and their own instances convert the values.
"""

from collections.abc import Callable, Container
from operator import attrgetter
from typing import Any

from rest_framework import serializers

# Fields of exactly these types output the attribute's value unchanged.
UNCONVERTED_FIELDS = {
    serializers.BooleanField,
    serializers.CharField,
    serializers.ChoiceField,
    serializers.DictField,
    serializers.FloatField,
    serializers.IntegerField,
}

# A member's name, the function that reads it from an object, and the function that
# converts its value. Plain tuples, because Python unpacks them faster than named ones.
Member = tuple[str, Callable[[Any], Any], Callable[[Any], Any] | None]


def build_member(name: str, field: serializers.Field[Any, Any, Any, Any]) -> Member:
    """Return the member that a field declares; source `*` is the object itself."""
    source = field.source or name
    read = return_unchanged if source == "*" else attrgetter(source)
    convert = None if type(field) in UNCONVERTED_FIELDS else field.to_representation
    return name, read, convert


def return_unchanged(instance: Any) -> Any:
    return instance


# Without a docstring: the schema would repeat it for every subclass that has none.
class ResponseSerializer(serializers.Serializer[Any]):
    members: tuple[Member, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = cls._declared_fields.items()
        cls.members = tuple(build_member(name, field) for name, field in declared)

    def to_representation(
        self, instance: Any, exclude: Container[str] = ()
    ) -> dict[str, Any]:
        """Return the declared members in their order, without the excluded ones."""
        members = self.members
        if exclude:
            members = tuple(member for member in members if member[0] not in exclude)
        response = {}
        for name, read, convert in members:
            value = read(instance)
            if convert is None or value is None:
                response[name] = value
            else:
                response[name] = convert(value)
        return response
