from collections.abc import Callable

from django.http.response import HttpResponseBase
from django.urls import path

from .views import RegistryViewSet


def registry_view(**actions: str) -> Callable[..., HttpResponseBase]:
    """Return the view that maps HTTP methods to these actions."""
    view: Callable[..., HttpResponseBase] = RegistryViewSet.as_view({**actions})
    return view


urlpatterns = [
    path("capabilities", registry_view(get="list_capabilities", post="create")),
    # Before the next pattern: "health" is reserved and never a capability.
    path("capabilities/health", registry_view(get="registry_health")),
    path("capabilities/<str:key>", registry_view(get="find_providers", put="update")),
    # DELETE on the next two paths unregisters a capability of that name. "health" is
    # reserved, so there is none.
    path(
        "capabilities/<str:key>/health",
        registry_view(get="capability_health", delete="unregister_health"),
    ),
    path(
        "capabilities/<str:key>/reports",
        registry_view(post="report", delete="unregister_reports"),
    ),
    path(
        "capabilities/<str:agent_id>/<str:capability>",
        registry_view(delete="unregister"),
    ),
]
