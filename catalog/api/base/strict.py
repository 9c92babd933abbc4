"""Strict validation: unknown query parameters and body members are rejected."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import Model, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request
from rest_framework.serializers import ListSerializer, Serializer
from rest_framework.views import APIView

from .errors import InvalidBody, InvalidParameter

if TYPE_CHECKING:
    ViewMixin = APIView
else:
    ViewMixin = object


class StrictParameters(ViewMixin):
    """Rejects unknown query parameters, and repeated ones unless they may repeat."""

    # Without OPTIONS, so that the `Allow` header lists only documented methods.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # Parameter names by action; an action that is not listed has no parameters.
    parameters_by_action: dict[str, tuple[str, ...]] = {}
    # Parameter names of a view without actions.
    allowed_parameters: tuple[str, ...] = ()
    repeatable_parameters: tuple[str, ...] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        action = getattr(self, "action", None) or ""
        allowed = self.parameters_by_action.get(action, self.allowed_parameters)
        for name, values in request.query_params.lists():
            if name not in allowed:
                raise InvalidParameter(f"Unknown parameter: {name}", parameter=name)
            if len(values) > 1 and name not in self.repeatable_parameters:
                raise InvalidParameter(
                    f"{name} must be given only once", parameter=name
                )


def parse_boolean(
    parameters: Mapping[str, Any], name: str, default: bool = False
) -> bool:
    """Return a true/false parameter, or the default if it is missing or empty."""
    value = parameters.get(name, "")
    if value not in ("", "true", "false"):
        raise InvalidParameter(f"{name} must be true or false", parameter=name)
    return value == "true" if value else default


class StrictFilterBackend(DjangoFilterBackend):
    """Raises InvalidParameter for a filter value that is not valid."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[Model], view: APIView
    ) -> QuerySet[Model]:
        filterset = self.get_filterset(request, queryset, view)
        if filterset is None:
            return queryset
        if not filterset.is_valid():
            name, messages = next(iter(filterset.errors.items()))
            raise InvalidParameter(f"{name}: {messages[0]}", parameter=name)
        filtered: QuerySet[Model] = filterset.qs
        return filtered


def get_validated_data(serializer: Serializer[Any]) -> dict[str, Any]:
    """Return the validated data; raise InvalidBody for an unknown or invalid member."""
    unknown = sorted(iter_unknown_members(serializer, serializer.initial_data))
    if unknown:
        raise InvalidBody(f"Unknown member: {unknown[0]}", members=unknown)
    if not serializer.is_valid():
        raise InvalidBody(errors=serializer.errors)
    data: dict[str, Any] = serializer.validated_data
    return data


def iter_unknown_members(
    serializer: Serializer[Any], body: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """Yield members without a writable field, at any depth, such as `validity.form`."""
    for name, value in body.items():
        field = serializer.fields.get(name)
        if field is None or field.read_only:
            yield prefix + name
        elif isinstance(field, Serializer) and isinstance(value, dict):
            yield from iter_unknown_members(field, value, f"{prefix}{name}.")
        elif isinstance(field, ListSerializer) and isinstance(value, list):
            child = field.child
            for n, item in enumerate(value):
                if isinstance(child, Serializer) and isinstance(item, dict):
                    path = f"{prefix}{name}[{n}]."
                    yield from iter_unknown_members(child, item, path)
