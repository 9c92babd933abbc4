from django.urls import path

from .web import views

app_name = "routing"

urlpatterns = [
    path("registry", views.index, name="index"),
    path("registry/<str:name>", views.capability, name="capability"),
    path("registry/<str:key>/change", views.change, name="change"),
]
