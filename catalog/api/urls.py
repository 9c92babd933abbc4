from django.urls import path
from rest_framework.routers import SimpleRouter

from .views import CatalogEntryViewSet, KindsView, StatsView

router = SimpleRouter(trailing_slash=False)
router.register("catalog", CatalogEntryViewSet, basename="entry")

urlpatterns = [
    *router.urls,
    path("kinds", KindsView.as_view(), name="kinds"),
    path("stats", StatsView.as_view(), name="stats"),
]
