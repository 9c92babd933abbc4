"""Unknown members of cards, documents and envelopes are stored and passed on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from capabilities.protocols.agh.cards import PEER_CARD_MEMBERS
from capabilities.protocols.agh.documents import WIRE_MEMBERS
from capabilities.protocols.agh.envelopes import ENVELOPE_MEMBERS
from catalog.integrations.agh.local_files import import_folder
from catalog.integrations.agh.models import SeenEnvelope
from catalog.models import CatalogEntry
from tests.capabilities.protocols.agh.test_round_trips import exts

from .envelopes import (
    BRIEF_KEY,
    PEERS_URL,
    build_card,
    build_document,
    build_envelope,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_transfer_url,
    build_whois,
    fetch_transfer,
    send_envelopes,
)

pytestmark = pytest.mark.django_db


def exclude_members(names):
    """Return a strategy for objects without the members that have a meaning."""
    return exts.map(lambda ext: {key: ext[key] for key in ext if key not in names})


def without_members(document: dict, names) -> dict:
    return {key: value for key, value in document.items() if key not in names}


database_settings = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@database_settings
@given(
    ext=exts,
    members=exclude_members(ENVELOPE_MEMBERS),
    body_members=exclude_members({"capability"}),
    document_members=exclude_members({*WIRE_MEMBERS}),
)
def test_relayed_transfer_keeps_unknown_members(
    editor_api, ext, members, body_members, document_members
):
    CatalogEntry.objects.all().delete()
    body = {"capability": build_document("a", **document_members), **body_members}
    send_envelopes(editor_api, build_envelope("capability", body, ext=ext, **members))
    first = fetch_transfer(editor_api, "a")
    SeenEnvelope.objects.all().delete()
    send_envelopes(editor_api, first)
    relayed = fetch_transfer(editor_api, "a")

    expected = (ext, members, body_members, document_members)
    for transfer in (first, relayed):
        body = transfer["body"]
        unknown_members = (
            transfer.get("ext", {}),
            without_members(transfer, ENVELOPE_MEMBERS),
            without_members(body, {"capability"}),
            without_members(body["capability"], WIRE_MEMBERS),
        )
        # As JSON text, because the order of members counts.
        assert json.dumps(unknown_members) == json.dumps(expected)


@database_settings
@given(
    ext=exclude_members({BRIEF_KEY}),
    members=exclude_members({*PEER_CARD_MEMBERS, "channel"}),
    brief=exts,
)
def test_card_keeps_unknown_members(editor_api, ext, members, brief):
    CatalogEntry.objects.all().delete()
    briefs = [brief | {"id": "a", "summary": "Does a."}]
    card = build_card("a", ext={"z": 1, BRIEF_KEY: briefs, **ext}, **members)
    send_envelopes(editor_api, build_greet_from_card(card))
    returned = editor_api.get(f"{PEERS_URL}/designer").json()
    (response,) = send_envelopes(editor_api, build_whois(to="designer"))

    assert returned == response["body"]["peer_card"] == card
    assert json.dumps(returned["ext"]) == json.dumps(card["ext"])


def test_transfer_keeps_workspace_id_but_no_interaction_id(editor_api):
    """Newer revisions do not have `interaction_id` and reject it."""
    members = {"workspace_id": "ws1", "interaction_id": "int_1"}
    send_envelopes(
        editor_api, build_greet("a"), build_transfer(build_document("a"), **members)
    )

    transfer = fetch_transfer(editor_api, "a")
    assert transfer["workspace_id"] == "ws1"
    assert "interaction_id" not in transfer


def test_transfer_of_document_from_files_has_requested_channel(editor_api, tmp_path):
    (tmp_path / "designer").mkdir()
    document = without_members(build_document("a"), {"digest"})
    path = tmp_path / "designer" / "capabilities.json"
    path.write_text(json.dumps({"capabilities": [document]}))
    import_folder(tmp_path / "designer")
    transfer = fetch_transfer(editor_api, "a", channel="builders")

    assert transfer["channel"] == "builders"
    assert fetch_transfer(editor_api, "a")["channel"] == "local"


def test_transfer_of_privileged_capability_returns_404(editor_api):
    transfer = build_transfer(build_document("task.write"), proof={"sig": "x"})
    send_envelopes(editor_api, build_greet(), transfer)

    assert editor_api.get(build_transfer_url("task.write")).status_code == 404
