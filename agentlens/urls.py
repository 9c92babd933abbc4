from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView

from . import views

api = [
    path("", include("catalog.api.urls")),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", views.ApiDocs.as_view(), name="docs"),
    re_path(r"^.*$", views.api_not_found),
]

urlpatterns = [
    path("", views.home, name="home"),
    path("", include("catalog.urls")),
    path("login", LoginView.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("account", views.account, name="account"),
    path(
        "account/password",
        PasswordChangeView.as_view(success_url="/account"),
        name="password_change",
    ),
    path("api/v1/", include(api)),
    re_path(r"^api(/.*)?$", views.api_not_found),
    path("docs", RedirectView.as_view(pattern_name="docs")),
    path("admin/", admin.site.urls),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
]
