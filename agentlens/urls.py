from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView

from . import views
from .metrics import metrics

# Django tries patterns in order: the most frequent requests come first.
api: list[URLPattern | URLResolver] = [
    path("registry/", include("routing.api.urls")),
    path("", include("catalog.api.urls")),
    path("", include("catalog.integrations.agui.urls")),
    path("", include("catalog.integrations.agh.urls")),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", views.ApiDocs.as_view(), name="docs"),
    re_path(r"^.*$", views.api_not_found),
]

urlpatterns = [
    path("api/v1/", include(api)),
    re_path(r"^api(/.*)?$", views.api_not_found),
    path("", views.home, name="home"),
    path("", include("catalog.urls")),
    path("", include("routing.urls")),
    path("login", LoginView.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("account", views.account, name="account"),
    path(
        "account/password",
        PasswordChangeView.as_view(success_url="/account"),
        name="password_change",
    ),
    path("docs", RedirectView.as_view(pattern_name="docs")),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("healthz", views.healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("readyz", views.readyz, name="readyz"),
    path("<path:path>/", views.remove_trailing_slash),
]
