"""Every view of the API is closed by its own settings, not by project defaults."""

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

REQUIRED_ATTRIBUTES = {
    "authentication_classes",
    "permission_classes",
    "pagination_class",
    "parser_classes",
    "renderer_classes",
}


class UnlistedMethodView(CatalogAPIMixin, APIView):
    """A view with a method for which the permission classes have no rule."""

    def put(self, request):
        raise AssertionError("The request was not rejected")


def api_views() -> list[type]:
    """Return the view classes of the catalog and of routing, sorted by name."""
    return sorted(
        set(iter_view_classes(get_resolver())), key=lambda view: view.__name__
    )


def iter_view_classes(resolver):
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            yield from iter_view_classes(pattern)
            continue
        view = getattr(pattern.callback, "cls", None)
        if view and view.__module__.split(".")[0] in ("catalog", "routing"):
            yield view


@pytest.mark.parametrize("view", api_views(), ids=lambda view: view.__name__)
def test_view_sets_its_own_permissions_parsers_and_renderers(view):
    own_classes = [
        cls for cls in view.__mro__ if not cls.__module__.startswith("rest_framework.")
    ]
    own_attributes = {name for cls in own_classes for name in vars(cls)}

    assert own_attributes >= REQUIRED_ATTRIBUTES
    assert AllowAny not in view.permission_classes
    assert view.permission_classes
    assert view.renderer_classes == [ORJSONRenderer]
    assert view().get_exception_handler() is exception_handler


def test_api_views_helper_returns_all_views():
    assert len(api_views()) >= 8


@pytest.mark.django_db
@pytest.mark.parametrize("superuser", [True, False])
def test_method_without_permission_rule_returns_403(superuser):
    request = APIRequestFactory().put("/", {}, format="json")
    force_authenticate(request, UserFactory(is_superuser=superuser))

    response = UnlistedMethodView.as_view()(request)

    assert (response.status_code, response.data["code"]) == (403, "PERMISSION_DENIED")


def test_request_without_user_has_no_permission():
    view, request = UnlistedMethodView(), APIRequestFactory().get("/")
    # As in a project that sets UNAUTHENTICATED_USER to None.
    request.user = None

    assert not CanReadCatalog().has_permission(request, view)
    assert not CatalogPermissions().has_permission(request, KindViewSet())


@pytest.mark.django_db
def test_method_that_view_does_not_implement_returns_405():
    request = APIRequestFactory().patch("/", {}, format="json")
    force_authenticate(request, UserFactory(is_superuser=True))

    response = UnlistedMethodView.as_view()(request)

    assert (response.status_code, response.data["code"]) == (405, "METHOD_NOT_ALLOWED")
