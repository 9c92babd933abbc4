"""How greets and transfers are merged into peers, and how peers respond."""

import json
import time

import pytest

from capabilities.protocols.agh import members, merging
from capabilities.protocols.agh.errors import (
    EnvelopeError,
    EnvelopeTooLarge,
    ReasonCode,
)
from catalog.ingestion import definition as definition_module
from catalog.integrations.agh import inbox, responder
from catalog.integrations.agh.directory import find_peer
from catalog.integrations.agh.models import SeenEnvelope
from catalog.models import CatalogEntry
from catalog.registration.export import export_lines, import_line
from tests.catalog.integrations.agh.envelopes import (
    BRIEF_KEY,
    build_card,
    build_catalog_request_ext,
    build_document,
    build_envelope,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_whois,
    build_whois_response,
    get_capabilities,
    get_catalog_ids,
    get_document_ids,
    get_documented_names,
    get_entry,
    get_responders,
    process_whois,
    receive_envelopes,
    send_whois,
)

pytestmark = pytest.mark.django_db


def test_greet_with_documented_capability_keeps_document():
    receive_envelopes(
        build_greet("a"), build_transfer(build_document("a")), build_greet("a")
    )

    assert get_capabilities()["a"]["document"] == build_document("a")


def test_greet_with_changed_card_keeps_documents():
    card = build_card("a", "b", display_name="Other", ext={})
    receive_envelopes(
        build_greet("a"),
        build_transfer(build_document("a")),
        build_greet_from_card(card),
    )

    assert set(get_capabilities()) == {"a", "b"}
    assert get_documented_names() == {"a"}


def test_greet_without_documented_capability_keeps_document():
    receive_envelopes(
        build_greet("a", "b"),
        build_transfer(build_document("a")),
        build_greet("b"),
        build_greet(),
    )

    assert get_documented_names() == {"a"}
    assert get_document_ids(find_peer("designer")) == ["a"]


def test_greet_removes_undocumented_capability_it_does_not_name():
    receive_envelopes(build_greet("a", "b"), build_greet("b"))

    assert set(get_capabilities()) == {"b"}


def test_new_brief_updates_description_of_undocumented_capability():
    ext = {"agh.capabilities_brief": [{"id": "a", "summary": "New summary."}]}
    receive_envelopes(build_greet("a"), build_greet_from_card(build_card("a", ext=ext)))

    row = get_entry().agent_type.capabilities.get()
    assert row.description == "New summary."


def test_documents_belong_to_one_peer_in_one_channel():
    receive_envelopes(
        build_greet("a"),
        build_greet("a", sender="coder"),
        build_transfer(build_document("a")),
    )
    receive_envelopes(build_greet("a", channel="testers"))

    assert get_documented_names() == {"a"}
    assert (
        get_documented_names("coder")
        == get_documented_names(channel="testers")
        == set()
    )


def test_transfers_before_first_greet_are_kept():
    receive_envelopes(
        build_transfer(build_document("a")),
        build_transfer(build_document("b")),
        build_greet("b"),
    )

    assert get_documented_names() == {"a", "b"}


def test_documents_over_limit_per_peer_are_rejected(monkeypatch):
    monkeypatch.setattr(inbox, "PEER_DOCUMENTS_LIMIT", 3000)
    receive_envelopes(
        build_greet("a"),
        *(build_transfer(build_document(name, outcome="x" * 1000)) for name in "ab"),
    )
    with pytest.raises(EnvelopeTooLarge):
        receive_envelopes(build_transfer(build_document("c", outcome="x" * 1000)))

    # Replacing a document does not increase the total size.
    receive_envelopes(build_transfer(build_document("b", outcome="y" * 1000)))
    assert get_documented_names() == {"a", "b"}


def test_capabilities_over_limit_keep_those_of_the_greet_first(monkeypatch):
    for module in (merging, definition_module):
        monkeypatch.setattr(module, "CAPABILITY_LIMIT", 3)
    receive_envelopes(
        build_transfer(build_document("a")),
        build_transfer(build_document("b")),
        build_greet("c", "d"),
    )

    assert set(get_capabilities()) == {"c", "d", "a"}


def test_card_with_reserved_member_channel_is_rejected():
    with pytest.raises(EnvelopeError, match=r"peer_card\.channel"):
        receive_envelopes(build_greet_from_card(build_card("a", channel="elsewhere")))


def test_request_with_too_large_response_can_be_repeated(monkeypatch):
    receive_envelopes(
        build_greet("a"), build_transfer(build_document("a", outcome="x" * 1000))
    )
    request = build_whois("a", to="designer", ext=build_catalog_request_ext())
    with monkeypatch.context() as patched:
        patched.setattr(members, "ENVELOPE_BYTES_LIMIT", 1000)
        with pytest.raises(EnvelopeTooLarge):
            receive_envelopes(request)
    receive_envelopes(request)


def test_seen_request_expires_regardless_of_expires_at():
    expires_at = int(time.time()) + 10 * 24 * 3600
    receive_envelopes(
        build_greet("a"),
        build_whois("a", expires_at=expires_at),
        build_greet("a", expires_at=expires_at),
    )
    until = [seen.until.timestamp() for seen in SeenEnvelope.objects.order_by("until")]

    assert until[1] < time.time() + 400
    assert until[2] == expires_at


def test_envelope_with_own_peer_id_is_rejected():
    with pytest.raises(EnvelopeError):
        receive_envelopes(build_greet("a", sender="agentlens"))

    assert not CatalogEntry.objects.exists()


def test_transferred_capability_is_in_card_and_catalog():
    receive_envelopes(build_greet(), build_transfer(build_document("zz")))
    receive_envelopes(
        build_transfer(build_document("a1"), sender="coder"),
        build_transfer(build_document("b1"), "coder"),
    )

    assert get_responders("zz") == ["designer"]
    assert get_responders("b1") == ["coder"]
    (response,) = send_whois(to="coder", ext=build_catalog_request_ext())
    card = response["body"]["peer_card"]
    assert card["capabilities"] == ["a1", "b1"]
    assert [brief["id"] for brief in card["ext"][BRIEF_KEY]] == ["a1", "b1"]
    assert get_catalog_ids(response) == ["a1", "b1"]


@pytest.mark.parametrize(
    "members",
    [
        {"capabilities": [" b ", "", "a"]},
        {"capabilities": ["b", "a"], "ext": {}},
        {"capabilities": ["b", "a"], "ext": {BRIEF_KEY: [{"id": "a", "summary": 5}]}},
    ],
)
def test_returned_card_has_a_brief_for_each_capability(members):
    receive_envelopes(build_greet_from_card(build_card("x") | members))
    (response,) = send_whois(to="designer")
    card = response["body"]["peer_card"]

    assert card["capabilities"] == ["b", "a"]
    assert [brief["id"] for brief in card["ext"][BRIEF_KEY]] == ["b", "a"]
    assert all(isinstance(brief["summary"], str) for brief in card["ext"][BRIEF_KEY])


@pytest.mark.parametrize(
    "envelope",
    [
        build_transfer(build_document("a"), to="unknown"),
        build_whois_response(build_card("a"), build_document("a"), to="unknown"),
        build_envelope("say", {"text": "hello"}, to="unknown"),
    ],
    ids=["transfer", "response", "say"],
)
def test_envelope_to_unknown_peer_is_rejected_as_not_target(envelope):
    envelope |= {"ts": int(time.time())}
    with pytest.raises(EnvelopeError) as caught:
        receive_envelopes(envelope)

    assert caught.value.reason_code == ReasonCode.NOT_TARGET
    assert not CatalogEntry.objects.exists()


@pytest.mark.parametrize("to", ["agentlens", "coder"])
def test_envelope_to_agentlens_or_known_peer_is_accepted(to):
    receive_envelopes(
        build_greet("x", sender="coder"), build_transfer(build_document("a"), to=to)
    )

    assert get_documented_names() == {"a"}


def test_privileged_capability_is_rejected_without_proof_and_never_passed_on():
    with pytest.raises(EnvelopeError) as caught:
        receive_envelopes(build_transfer(build_document("task.write")))
    assert caught.value.reason_code == ReasonCode.VERIFICATION_FAILED

    proof = {"alg": "none"}
    receive_envelopes(build_greet_from_card(build_card("a", "task.write"), proof=proof))
    receive_envelopes(build_transfer(build_document("task.write"), proof=proof))
    (response,) = send_whois(to="designer", ext=build_catalog_request_ext())
    assert response["body"]["peer_card"]["capabilities"] == ["a"]
    assert get_catalog_ids(response) == []
    assert responder.build_transfer(find_peer("designer"), "task.write") is None


def test_privileged_capability_in_catalog_is_rejected_without_proof():
    response = build_whois_response(
        build_card("a"), build_document("a"), build_document("task.write")
    )
    with pytest.raises(EnvelopeError) as caught:
        receive_envelopes(response)
    assert caught.value.reason_code == ReasonCode.VERIFICATION_FAILED
    assert not CatalogEntry.objects.exists()

    receive_envelopes(response | {"proof": {"alg": "none"}})
    assert get_documented_names() == {"a", "task.write"}


@pytest.mark.parametrize(
    "catalog", [7, {"capabilities": [build_document("b")]}], ids=str
)
def test_catalog_in_greet_is_ignored(catalog):
    """The catalog key has a meaning in whois responses only."""
    receive_envelopes(build_greet("a", ext={"agh.capability_catalog": catalog}))

    assert set(get_capabilities()) == {"a"}
    assert get_documented_names() == set()


def test_greet_of_nearly_the_size_limit_is_accepted():
    ids = [f"capability-{n:05}" for n in range(2000)]
    padding = {"acme.x": list(range(70_000))}
    receive_envelopes(build_greet_from_card(build_card(*ids) | {"ext": padding}))

    assert len(get_capabilities()) == 2000


def test_greets_with_same_capabilities_record_no_change():
    for uptime in range(5):
        receive_envelopes(
            build_greet_from_card(build_card("a", ext={"acme.uptime": uptime}))
        )
    assert get_entry().changes.count() == 0
    assert json.loads(get_entry().agent_type.definition)["ext"] == {"acme.uptime": 4}

    receive_envelopes(build_greet("a", "b"))
    assert get_entry().changes.count() == 1


def test_renamed_peer_is_found_by_new_name(viewer_api):
    def count_results(query):
        return viewer_api.get(f"/api/v1/catalog?q={query}").json()["total"]

    receive_envelopes(build_greet_from_card(build_card("a", display_name="Painter")))
    receive_envelopes(build_greet_from_card(build_card("a", display_name="Sculptor")))

    assert (count_results("painter"), count_results("sculptor")) == (0, 1)
    assert get_entry().changes.count() == 1


def test_transfer_over_capability_limit_is_rejected(monkeypatch):
    monkeypatch.setattr(definition_module, "CAPABILITY_LIMIT", 3)
    receive_envelopes(build_greet("a", "b"), build_transfer(build_document("c")))
    with pytest.raises(EnvelopeError) as caught:
        receive_envelopes(build_transfer(build_document("d")))

    assert "over 3" in caught.value.message
    assert set(get_capabilities()) == {"a", "b", "c"}


def test_broadcast_finds_matching_peer_among_many_and_limits_responses(monkeypatch):
    monkeypatch.setattr(responder, "RESPONSES_LIMIT", 3)
    for n in range(12):
        receive_envelopes(build_greet(f"cap-{n}", sender=f"peer-{n}"))

    assert [get_responders(f"cap-{n}") for n in range(12)] == [
        [f"peer-{n}"] for n in range(12)
    ]
    assert len(send_whois()) == 3
    (omitted,) = process_whois().omitted
    assert "exceed 3 responses" in omitted.message


def test_broadcast_limits_total_size_of_responses(monkeypatch):
    monkeypatch.setattr(responder, "RESPONSES_BYTES_LIMIT", 2000)
    for n in range(12):
        receive_envelopes(build_greet("a", sender=f"peer-{n}"))
    total_size = sum(len(json.dumps(raw)) for raw in send_whois("a"))

    assert 0 < total_size < 2500
    (omitted,) = process_whois("a").omitted
    assert "2000 bytes in total" in omitted.message


@pytest.mark.parametrize("key", ["id", "reply_to", "trace_id", "workspace_id"])
def test_long_header_member_is_malformed(key):
    with pytest.raises(EnvelopeError) as caught:
        send_whois(**{key: "x" * 257})

    assert (caught.value.reason_code, caught.value.path) == ("malformed", f"$.{key}")


def test_export_and_import_keep_documents():
    receive_envelopes(
        build_greet("a", "b"), build_transfer(build_document("a"), ext={"z": 1, "a": 2})
    )
    receive_envelopes(build_transfer(build_document("only-sent"), "coder", acme=[1]))
    before = {peer_id: get_capabilities(peer_id) for peer_id in ("designer", "coder")}
    lines = list(export_lines())
    CatalogEntry.objects.all().delete()
    for line in lines:
        import_line(line)

    assert {peer_id: get_capabilities(peer_id) for peer_id in before} == before
    CatalogEntry.objects.all().delete()
    forged_lines = [line.replace("a is done.", "b is done.") for line in lines]
    for line in forged_lines:
        import_line(line)
    assert not get_capabilities()["a"]["verified"]
