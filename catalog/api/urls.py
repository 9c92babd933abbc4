from django.urls import path
from rest_framework.routers import SimpleRouter

from .views import CatalogEntryViewSet, KindViewSet, StatsView

router = SimpleRouter(trailing_slash=False)
router.register("catalog", CatalogEntryViewSet, basename="entry")
router.register("kinds", KindViewSet, basename="kind")

urlpatterns = [
    *router.urls,
    path("stats", StatsView.as_view(), name="stats"),
]
