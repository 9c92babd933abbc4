"""The API answers what was asked, or says that it does not understand."""

from collections.abc import Iterator

from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.serializers import ListSerializer, Serializer

from .errors import InvalidBody, InvalidParameter


class StrictParameters:
    """Refuses query parameters that an action does not know, or knows only once."""

    # What `Allow` tells is what there is.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # By action; what is not named here takes none.
    parameters: dict[str, tuple[str, ...]] = {}
    # The same for a view that has no actions.
    takes: tuple[str, ...] = ()
    repeatable: tuple[str, ...] = ()

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        known = self.parameters.get(getattr(self, "action", None) or "", self.takes)
        for name, values in request.query_params.lists():
            if name not in known:
                raise InvalidParameter(f"Unknown parameter: {name}", parameter=name)
            if len(values) > 1 and name not in self.repeatable:
                raise InvalidParameter(f"{name} is given twice", parameter=name)


def boolean(parameters, name: str, default: bool = False) -> bool:
    """A parameter that says true or false; absent and empty are the default."""
    value = parameters.get(name, "")
    if value not in ("", "true", "false"):
        raise InvalidParameter(f"{name} must be true or false", parameter=name)
    return value == "true" if value else default


class StrictFilterBackend(DjangoFilterBackend):
    """A value that a filter does not take is a 400 in the one error shape."""

    def filter_queryset(self, request, queryset, view):
        filterset = self.get_filterset(request, queryset, view)
        if filterset is None:
            return queryset
        if not filterset.is_valid():
            name, messages = next(iter(filterset.errors.items()))
            raise InvalidParameter(f"{name}: {messages[0]}", parameter=name)
        return filterset.qs


def validated(serializer):
    """The serializer's data; unknown members and bad values are one 400."""
    unknown = sorted(unknown_members(serializer, serializer.initial_data))
    if unknown:
        raise InvalidBody(f"Unknown member: {unknown[0]}", members=unknown)
    if not serializer.is_valid():
        raise InvalidBody(errors=serializer.errors)
    return serializer.validated_data


def unknown_members(serializer, body: dict, at: str = "") -> Iterator[str]:
    """Members that nobody reads, at any depth: `validity.form`."""
    for name, value in body.items():
        field = serializer.fields.get(name)
        if field is None or field.read_only:
            yield at + name
        elif isinstance(field, Serializer) and isinstance(value, dict):
            yield from unknown_members(field, value, f"{at}{name}.")
        elif isinstance(field, ListSerializer) and isinstance(value, list):
            for n, item in enumerate(value):
                if isinstance(item, dict):
                    yield from unknown_members(field.child, item, f"{at}{name}[{n}].")
