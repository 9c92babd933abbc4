"""The API answers what was asked, or says that it does not understand."""

from django_filters.rest_framework import DjangoFilterBackend

from .errors import InvalidParameter


class StrictParameters:
    """Refuses query parameters that an action does not know, or knows only once."""

    # What `Allow` tells is what there is.
    http_method_names = ["get", "head", "post", "patch", "delete"]
    # By action; what is not named here takes none.
    parameters: dict[str, tuple[str, ...]] = {}
    repeatable: tuple[str, ...] = ()

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        known = self.parameters.get(getattr(self, "action", None) or "", ())
        for name, values in request.query_params.lists():
            if name not in known:
                raise InvalidParameter(f"Unknown parameter: {name}", parameter=name)
            if len(values) > 1 and name not in self.repeatable:
                raise InvalidParameter(f"{name} is given twice", parameter=name)


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
