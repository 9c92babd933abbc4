import pytest

from .envelopes import build_document, build_greet, build_transfer, send_envelopes


@pytest.fixture
def documented_peer(editor_api):
    """Greet as a peer with capabilities b, a and c, of which a and c have documents."""
    send_envelopes(
        editor_api,
        build_greet("b", "a", "c"),
        build_transfer(build_document("c")),
        build_transfer(build_document("a")),
    )
