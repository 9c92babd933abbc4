from django.urls import path

from .views import RegistryViewSet


def registry(**actions):
    return RegistryViewSet.as_view(actions)


urlpatterns = [
    path("capabilities", registry(get="discover", post="create")),
    # Before the names: no capability may be called so.
    path("capabilities/health", registry(get="everything")),
    path("capabilities/<str:key>", registry(get="find", put="update")),
    # Such a capability, too, could be unregistered: the last part is its name.
    path(
        "capabilities/<str:key>/health",
        registry(get="health", delete="unregister_health"),
    ),
    path(
        "capabilities/<str:key>/reports",
        registry(post="report", delete="unregister_reports"),
    ),
    path("capabilities/<str:agent_id>/<str:capability>", registry(delete="unregister")),
]
