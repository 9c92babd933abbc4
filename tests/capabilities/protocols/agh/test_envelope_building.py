import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.bodies import (
    build_greet_body,
    build_transfer_body,
    build_whois_request_body,
    build_whois_response_body,
)
from capabilities.protocols.agh.cards import PeerCard
from capabilities.protocols.agh.envelopes import (
    EnvelopeHeader,
    MessageKind,
    build_envelope,
)
from capabilities.protocols.agh.errors import (
    EnvelopeError,
    EnvelopeTooLarge,
)
from capabilities.protocols.agh.members import dump_compact_json

from .messages import (
    NOW,
    build_card,
    build_document,
    build_received_envelope,
    build_verified_document,
    parse_card,
    parse_envelope,
)

HEADER = EnvelopeHeader(channel="builders", sender="designer")


def test_built_envelope_has_members_in_order():
    sent = build_envelope(
        MessageKind.GREET, HEADER, build_greet_body(parse_card(), "Hi"), NOW
    )

    assert list(sent.raw) == [
        *("protocol", "id", "kind", "channel", "from", "to", "ts", "body", "proof")
    ]
    assert sent.raw["proof"] is sent.raw["to"] is None
    assert sent.raw["body"] == {"peer_card": build_card(), "summary": "Hi"}
    assert sent.id.startswith("msg_")
    assert sent.id != EnvelopeHeader(channel="a", sender="b").id


@pytest.mark.parametrize("workspace_id", ["", "ws_alpha"])
def test_reply_header_has_sender_and_workspace_of_request(workspace_id):
    members = {"workspace_id": workspace_id} if workspace_id else {}
    request = parse_envelope(build_received_envelope("whois", **members))
    header = EnvelopeHeader.for_reply(request, "agentlens")

    sent = build_envelope(
        MessageKind.WHOIS,
        header,
        build_whois_response_body(parse_card(peer_id="agentlens")),
        NOW,
    )

    assert (sent.to, sent.reply_to, sent.channel) == ("designer", "msg_1", "builders")
    assert ("workspace_id" in sent.raw) is bool(workspace_id)
    assert sent.workspace_id == workspace_id
    assert parse_envelope(dump_compact_json(sent.raw)) == sent


def test_built_transfer_can_be_parsed():
    sent = build_envelope(
        MessageKind.CAPABILITY, HEADER, build_transfer_body(build_document()), NOW
    )

    assert parse_envelope(dump_compact_json(sent.raw)).document == sent.document
    assert sent.document.is_verified


def test_built_request_has_its_ext():
    sent = build_envelope(
        MessageKind.WHOIS,
        HEADER,
        build_whois_request_body("x"),
        NOW,
        {"agh.include": []},
    )

    assert sent.raw["ext"] == {"agh.include": []}
    assert sent.query == "x"


def test_too_large_envelope_is_not_built():
    ext = {
        "agh.capability_catalog": {
            "capabilities": [build_verified_document(summary="x" * 2**20)]
        }
    }
    with pytest.raises(EnvelopeTooLarge):
        build_envelope(MessageKind.WHOIS, HEADER, build_whois_request_body(), NOW, ext)


def test_invalid_envelope_is_not_built():
    peer_card = PeerCard.parse(build_card(peer_id="other"), Problems())
    with pytest.raises(EnvelopeError):
        build_envelope(MessageKind.GREET, HEADER, build_greet_body(peer_card), NOW)
