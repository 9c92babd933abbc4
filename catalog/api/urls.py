from django.urls import path
from rest_framework.routers import SimpleRouter

from .capabilities import CapabilityViewSet
from .compare import CompareView
from .entries import CatalogEntryViewSet, KindViewSet, StatsView

router = SimpleRouter(trailing_slash=False)
router.register("catalog", CatalogEntryViewSet, basename="entry")
router.register("kinds", KindViewSet, basename="kind")

urlpatterns = [
    # Before the entries, whose URL pattern matches it too.
    path("catalog/compare", CompareView.as_view(), name="compare"),
    *router.urls,
    path("capabilities", CapabilityViewSet.as_view({"get": "list"})),
    path(
        "capabilities/<capability_key:key>",
        CapabilityViewSet.as_view({"get": "retrieve"}),
    ),
    path("stats", StatsView.as_view(), name="stats"),
]
