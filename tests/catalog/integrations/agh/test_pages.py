"""How the pages show peers and their documents."""

import json

import pytest

from capabilities.protocols.agh.errors import EnvelopeError
from catalog.integrations.agh.local_files import import_folder
from tests.catalog.integrations.agh.envelopes import (
    WRONG_DIGEST,
    build_card,
    build_document,
    build_greet,
    build_greet_from_card,
    build_transfer,
    get_entry,
    receive_envelopes,
    write_local_catalog,
)
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def get_page(client):
    """Return a function that reads the page of the designer as a viewer."""

    def read(channel="builders") -> str:
        client.force_login(UserFactory(role="Viewer"))
        return client.get(f"/catalog/{get_entry(channel=channel).pk}").content.decode()

    return read


def test_peer_page_shows_document(get_page):
    document = build_document(
        "a",
        version="1.2.3",
        context_needed=["The repository"],
        execution_outline=["Inspect it", "Build it"],
        constraints=["No mocks"],
        examples=[],
    )
    receive_envelopes(build_greet("a"), build_transfer(document))
    page = get_page()

    for expected_text in (
        "a is done.",
        "1.2.3",
        "The repository",
        "Build it",
        "No mocks",
    ):
        assert expected_text in page
    for label in ("Outcome", "Context needed", "Execution outline", "Constraints"):
        assert f"<dt>{label}</dt>" in page
    assert "<dt>Examples</dt>" not in page
    assert document["digest"] in page
    assert "Verified" in page


def test_peer_page_shows_digest_of_files_as_not_given(get_page, tmp_path):
    write_local_catalog(tmp_path / "designer", build_document("a"))
    import_folder(tmp_path / "designer")
    page = get_page("")

    assert "Verified" not in page
    assert "Digest not given" in page
    assert build_document("a")["digest"] in page


def test_peer_page_of_undocumented_capability_shows_no_document(get_page):
    receive_envelopes(build_greet("a"))
    page = get_page()

    assert "Does a." in page
    assert "Full document" not in page


def test_peer_page_escapes_document(get_page):
    document = build_document(
        HOSTILE,
        summary=HOSTILE,
        outcome=HOSTILE,
        version=HOSTILE,
        context_needed=[HOSTILE],
        constraints=[HOSTILE],
        unknown={HOSTILE: HOSTILE},
    )
    card = build_card(HOSTILE, display_name=HOSTILE, ext={HOSTILE: HOSTILE})
    receive_envelopes(
        build_greet_from_card(card), build_transfer(document, ext={HOSTILE: HOSTILE})
    )
    page = get_page()

    assert HOSTILE not in page
    assert page.count("&lt;script&gt;alert(1)") >= 5


@pytest.mark.parametrize(
    "members",
    [{"constraints": None}, {"examples": ["", " "]}, {"version": " 1 "}],
    ids=json.dumps,
)
def test_peer_page_shows_document_with_unusual_values(get_page, members):
    receive_envelopes(build_greet("a"), build_transfer(build_document("a", **members)))
    page = get_page()

    assert "a is done." in page
    assert '<li dir="auto"></li>' not in page
    assert "<dt>Examples</dt>" not in page


def test_capabilities_page_lists_capabilities_of_peers(client):
    receive_envelopes(build_greet("a"), build_transfer(build_document("a")))
    client.force_login(UserFactory(role="Viewer"))
    page = client.get("/catalog/capabilities").content.decode()

    assert "AGH Capability" in page
    assert "Does a." in page


def test_peer_page_shows_no_document_after_rejected_transfer(get_page):
    receive_envelopes(build_greet("a"))
    with pytest.raises(EnvelopeError, match="digest"):
        receive_envelopes(build_transfer(build_document("a", digest=WRONG_DIGEST)))

    assert "Full document" not in get_page()


def test_peer_page_shows_no_latency(get_page):
    receive_envelopes(build_greet("a"))
    page = get_page()

    assert "the agent announced itself recently" in page
    assert "None ms" not in page
    assert 'class="latency"' not in page
