"""A base for serializers that only write responses, for endpoints that must be fast.

Django REST framework copies and binds every field for each serializer it makes. Here
the fields are read once per class, and their own instances convert the values.
"""

from collections.abc import Callable, Container
from operator import attrgetter
from typing import Any

from rest_framework import serializers

# Fields of exactly these types show a value as the object holds it.
UNCHANGED = {
    serializers.BooleanField,
    serializers.CharField,
    serializers.ChoiceField,
    serializers.DictField,
    serializers.FloatField,
    serializers.IntegerField,
}

# A member's name, how it is read from an object, and how its value is converted.
# Plain tuples, because Python takes these apart faster than named ones.
Member = tuple[str, Callable[[Any], Any], Callable[[Any], Any] | None]


def member(name: str, field: serializers.Field) -> Member:
    """Return the member that a field declares; `*` reads the object itself."""
    source = field.source or name
    read = itself if source == "*" else attrgetter(source)
    return name, read, None if type(field) in UNCHANGED else field.to_representation


def itself(instance: Any) -> Any:
    """Return the object."""
    return instance


# Without a docstring: the schema would repeat it for every subclass that has none.
class ResponseSerializer(serializers.Serializer):
    members: tuple[Member, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = cls._declared_fields.items()
        cls.members = tuple(member(name, field) for name, field in declared)

    def to_representation(
        self, instance: Any, left_out: Container[str] = ()
    ) -> dict[str, Any]:
        """Return the declared members in their order, except those left out."""
        members = self.members
        if left_out:
            members = tuple(one for one in members if one[0] not in left_out)
        response = {}
        for name, read, convert in members:
            value = read(instance)
            if convert is None or value is None:
                response[name] = value
            else:
                response[name] = convert(value)
        return response
