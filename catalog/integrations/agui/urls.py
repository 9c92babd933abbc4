from django.urls import path

from .api import AgentCapabilitiesView

urlpatterns = [
    path("catalog/<str:pk>/capabilities", AgentCapabilitiesView.as_view()),
]
