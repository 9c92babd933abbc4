"""Every view of the API is closed by itself, whatever a project's defaults are."""

import pytest
from django.urls import get_resolver
from rest_framework.permissions import AllowAny
from rest_framework.test import APIRequestFactory, force_authenticate
from rest_framework.views import APIView

from catalog.api.base import (
    CanReadCatalog,
    CatalogAPIMixin,
    CatalogPermissions,
    exception_handler,
)
from catalog.api.base.renderers import ORJSONRenderer
from catalog.api.entries import KindViewSet
from tests.factories import UserFactory

EXPLICIT = (
    "authentication_classes",
    "permission_classes",
    "pagination_class",
    "parser_classes",
    "renderer_classes",
)


class Unlisted(CatalogAPIMixin, APIView):
    """A view whose handler no permission names."""

    def put(self, request):
        raise AssertionError("reached")


def views() -> list[type]:
    """The view classes of the catalog and of routing."""
    return sorted(set(view_classes(get_resolver())), key=lambda view: view.__name__)


def view_classes(resolver):
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            yield from view_classes(pattern)
            continue
        view = getattr(pattern.callback, "cls", None)
        if view and view.__module__.split(".")[0] in ("catalog", "routing"):
            yield view


@pytest.mark.parametrize("view", views(), ids=lambda view: view.__name__)
def test_view_states_who_may_what_it_reads_and_how_it_answers(view):
    own = [c for c in view.__mro__ if c.__module__.split(".")[0] != "rest_framework"]
    stated = {name for c in own for name in vars(c)}

    assert set(EXPLICIT) <= stated
    assert AllowAny not in view.permission_classes
    assert view.permission_classes
    assert view.renderer_classes == [ORJSONRenderer]
    assert view().get_exception_handler() is exception_handler


def test_there_are_views_to_look_at():
    assert len(views()) >= 8


@pytest.mark.django_db
@pytest.mark.parametrize("superuser", [True, False])
def test_method_that_no_permission_lists_is_refused(superuser):
    request = APIRequestFactory().put("/", {}, format="json")
    force_authenticate(request, UserFactory(is_superuser=superuser))

    response = Unlisted.as_view()(request)

    assert (response.status_code, response.data["code"]) == (403, "PERMISSION_DENIED")


def test_request_without_any_user_is_refused():
    """As a project has it that sets UNAUTHENTICATED_USER to None."""
    view, request = Unlisted(), APIRequestFactory().get("/")
    request.user = None

    assert not CanReadCatalog().has_permission(request, view)
    assert not CatalogPermissions().has_permission(request, KindViewSet())


@pytest.mark.django_db
def test_method_that_the_view_lacks_is_405():
    request = APIRequestFactory().patch("/", {}, format="json")
    force_authenticate(request, UserFactory(is_superuser=True))

    response = Unlisted.as_view()(request)

    assert (response.status_code, response.data["code"]) == (405, "METHOD_NOT_ALLOWED")
