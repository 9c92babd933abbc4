from django.urls import path

from .api import EnvelopesView, PeerView, TransferView

urlpatterns = [
    path("agh/envelopes", EnvelopesView.as_view()),
    path("agh/peers/<str:peer_id>", PeerView.as_view()),
    path(
        "agh/peers/<str:peer_id>/capabilities/<capability_key:capability_id>",
        TransferView.as_view(),
    ),
]
