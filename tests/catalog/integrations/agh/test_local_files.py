"""Peers whose capability catalogs are read from files."""

import pytest
from asgiref.sync import async_to_sync

from catalog.health.scheduler import Prober
from catalog.integrations.agh.directory import find_peer
from catalog.integrations.agh.local_files import import_folder
from catalog.models import CatalogEntry, Source, Status
from tests.catalog.integrations.agh.envelopes import (
    build_catalog_request_ext,
    build_document,
    build_greet,
    build_transfer,
    build_whois,
    fetch_transfer,
    get_capabilities,
    get_catalog_ids,
    get_document_ids,
    get_responders,
    receive_envelopes,
    send_envelopes,
    send_whois,
    write_local_catalog,
)

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_peer_from_files_is_declared_and_never_probed(tmp_path):
    write_local_catalog(tmp_path / "designer", build_document("a"))
    entry = import_folder(tmp_path / "designer").entry
    async_to_sync(Prober().probe_all_due)()

    entry.refresh_from_db()
    assert entry.agent_type.endpoint == "agh:designer"
    assert (entry.status, entry.source) == (Status.ACTIVE, Source.CONFIG)
    assert (entry.next_probe_at, entry.last_probed_at) == (None, None)
    assert entry.declared


def test_peer_from_files_has_unverified_documents(tmp_path):
    write_local_catalog(tmp_path / "designer", build_document("b"), build_document("a"))
    import_folder(tmp_path / "designer")

    properties = get_capabilities(channel="")["a"]
    assert properties["digest"] == build_document("a")["digest"]
    assert not properties.get("verified")
    peer = find_peer("designer")
    assert peer.card.capabilities == ("b", "a")
    assert get_document_ids(peer) == ["b", "a"]


def test_greeting_peer_from_files_is_one_peer_with_merged_capabilities(
    tmp_path, editor_api
):
    write_local_catalog(tmp_path / "designer", build_document("a"), build_document("b"))
    import_folder(tmp_path / "designer")
    document = build_document("b", summary="Does it better.")
    receive_envelopes(build_greet("b", "c"), build_transfer(document))

    peer = find_peer("designer", "builders")
    assert peer.card.capabilities == ("b", "c", "a")
    assert (
        get_document_ids(peer) == get_document_ids(find_peer("designer")) == ["b", "a"]
    )
    for query in ("", "a", "c"):
        responses = send_envelopes(
            editor_api, build_whois(query, ext=build_catalog_request_ext())
        )
        senders = [
            response["from"]
            for response in responses
            if response["from"] != "agentlens"
        ]
        assert senders == ["designer"]
        assert get_catalog_ids(responses[0]) == ["b", "a"]
    transfer = fetch_transfer(editor_api, "b")
    assert transfer["body"]["capability"]["summary"] == "Does it better."
    assert fetch_transfer(editor_api, "a")["body"] == {
        "capability": build_document("a")
    }


def test_importing_files_removes_capabilities_no_longer_in_them(tmp_path):
    write_local_catalog(tmp_path / "designer", build_document("a"), build_document("b"))
    import_folder(tmp_path / "designer")
    write_local_catalog(tmp_path / "designer", build_document("b"))
    import_folder(tmp_path / "designer")

    assert set(get_capabilities(channel="")) == {"b"}


def test_greeting_peer_in_channel_local_is_not_declared():
    """Peers from files have no channel; their transfers say `local`."""
    receive_envelopes(build_greet("a", channel="local"))

    assert not CatalogEntry.objects.get().declared


def test_peers_from_files_respond_in_any_channel(tmp_path):
    write_local_catalog(tmp_path / "coder", build_document("a"))
    import_folder(tmp_path / "coder")

    assert get_responders("a") == get_responders("a", channel="elsewhere") == ["coder"]
    (response,) = send_whois(
        to="coder", ext=build_catalog_request_ext(), channel="elsewhere"
    )
    assert (get_catalog_ids(response), response["channel"]) == (["a"], "elsewhere")
