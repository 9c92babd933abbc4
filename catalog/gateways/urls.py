from django.urls import path

from .agh import EnvelopesView, PeerView, TransferView
from .agui import SnapshotView

urlpatterns = [
    path("catalog/<str:pk>/capabilities", SnapshotView.as_view()),
    path("agh/envelopes", EnvelopesView.as_view()),
    path("agh/peers/<str:peer_id>", PeerView.as_view()),
    path(
        "agh/peers/<str:peer_id>/capabilities/<capability_key:capability_id>",
        TransferView.as_view(),
    ),
]
