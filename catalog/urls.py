from django.urls import path

from .web import views

app_name = "catalog"

urlpatterns = [
    path("catalog", views.entry_list, name="entry_list"),
    path("catalog/register", views.register, name="register"),
    path("catalog/compare", views.entry_compare, name="entry_compare"),
    path("catalog/capabilities", views.capability_list, name="capability_list"),
    path(
        "catalog/capabilities/<capability_key:key>",
        views.capability_detail,
        name="capability_detail",
    ),
    path("catalog/<uuid:pk>", views.entry_detail, name="entry_detail"),
    path("catalog/<uuid:pk>/probe", views.entry_probe, name="entry_probe"),
    path("catalog/<uuid:pk>/refresh", views.entry_refresh, name="entry_refresh"),
]
