from django.urls import path

from .api import SnapshotView

urlpatterns = [
    path("catalog/<str:pk>/capabilities", SnapshotView.as_view()),
]
