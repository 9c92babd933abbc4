from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.urls import path

from .api import EnvelopesView, PeerView, TransferView

if not apps.is_installed("catalog.integrations.agh"):
    # The tables of its models are created by the migrations of this app.
    raise ImproperlyConfigured("Add 'catalog.integrations.agh' to INSTALLED_APPS.")

urlpatterns = [
    path("agh/envelopes", EnvelopesView.as_view()),
    path("agh/peers/<str:peer_id>", PeerView.as_view()),
    path(
        "agh/peers/<str:peer_id>/capabilities/<capability_key:capability_id>",
        TransferView.as_view(),
    ),
]
