"""The sentences of the seed about formats, in its order, each held to its word."""

import json

import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.bodies import (
    build_transfer_body,
    build_whois_response_body,
)
from capabilities.protocols.agh.cards import CATALOG_KEY, CapabilityBrief, PeerCard
from capabilities.protocols.agh.catalogs import (
    CatalogRequest,
    build_catalog_ext,
    read_catalog,
)
from capabilities.protocols.agh.documents import (
    DOCUMENT_LIST_MEMBERS,
    CapabilityDocument,
)
from capabilities.protocols.agh.envelopes import (
    EnvelopeHeader,
    MessageKind,
    build_envelope,
    build_raw_envelope,
)
from capabilities.protocols.agh.errors import (
    EnvelopeError,
    EnvelopeTooLarge,
    ReasonCode,
)
from capabilities.protocols.agh.members import serialize_json

from .making import (
    NOW,
    PLACEHOLDER,
    accepted,
    card,
    document,
    envelope,
    read_card,
    refused,
    sample,
    signed,
)

BRIEF_KEY = "agh.capabilities_brief"
ASKED = CatalogRequest(include_documents=True)
CATALOG_ORDER = [document(id="b", summary="B"), document(id="a", summary="A")]
PEER = PeerCard(peer_id="agentlens").with_capabilities(
    CapabilityBrief(each.id, each.summary) for each in CATALOG_ORDER
)


def answer(request, documents=CATALOG_ORDER, peer=PEER):
    """The whois response a peer with this catalog gives, as it is sent."""
    ext = build_catalog_ext(documents, CatalogRequest.from_ext(request.ext))
    heading = EnvelopeHeader.for_reply(request, peer.peer_id)
    return build_envelope(
        MessageKind.WHOIS, heading, build_whois_response_body(peer), NOW, ext
    ).raw


def whois(**ext):
    return accepted(envelope("whois", ext={f"agh.{key}": ext[key] for key in ext}))


# Three protocol roles for one concept


def test_the_full_catalog_never_rides_inside_peer_card_ext():
    smuggling = read_card(ext={CATALOG_KEY: {"capabilities": [signed()]}})

    assert "ext" not in smuggling.to_wire()


# Brief discovery


def test_a_peer_with_a_catalog_must_project_ids_trimmed_and_in_catalog_order():
    offered = PEER.with_capabilities(
        [CapabilityBrief(" b "), CapabilityBrief("a\n")]
    ).to_wire()

    assert offered["capabilities"] == ["b", "a"]


def test_a_peer_with_a_catalog_must_project_a_brief_that_matches_entry_by_entry():
    wire = PEER.to_wire()

    assert wire["ext"][BRIEF_KEY] == [
        {"id": "b", "summary": "B"},
        {"id": "a", "summary": "A"},
    ]
    assert [each["id"] for each in wire["ext"][BRIEF_KEY]] == wire["capabilities"]


def test_a_peer_without_a_catalog_must_still_emit_capabilities_as_an_empty_list():
    assert PEER.with_capabilities([]).to_wire()["capabilities"] == []


@pytest.mark.parametrize(
    "peer",
    [PEER.with_capabilities([]), read_card(ext={BRIEF_KEY: []}), PeerCard(peer_id="x")],
)
def test_a_peer_without_a_catalog_must_omit_the_brief_entirely(peer):
    assert BRIEF_KEY not in peer.to_wire().get("ext", {})


def test_capabilities_are_never_null():
    null = {"peer_card": card(capabilities=None)}

    assert refused(envelope(body=null)) == (
        "malformed",
        "$.body.peer_card.capabilities",
    )


@pytest.mark.parametrize("brief", [None, 5, "x", {}, [None], [{}], [{"id": 1}]])
def test_receivers_must_treat_the_brief_as_advisory(brief):
    told = card(capabilities=["a"], ext={BRIEF_KEY: brief})

    assert accepted(envelope(body={"peer_card": told})).card.briefs == [
        CapabilityBrief("a")
    ]


def test_brief_projections_never_carry_the_outcome():
    for entry in PEER.to_wire()["ext"][BRIEF_KEY]:
        assert set(entry) == {"id", "summary"}


def test_the_example_card_is_read_and_written_alike():
    stated = sample("peer_card")
    problems = Problems()

    read = PeerCard.parse(stated, problems)

    assert not problems.errors
    assert read.to_wire() == stated
    assert list(read.to_wire()) == list(stated)
    assert [each.summary for each in read.briefs] == [
        "Build the landing page.",
        "Review conversion copy.",
    ]


def test_the_brief_shape_appears_inside_a_greet_and_a_response_alike():
    stated = sample("peer_card")
    sender = {"from": stated["peer_id"]}
    greet = accepted(envelope(body={"peer_card": stated}, **sender))
    body = {"type": "response", "peer_card": stated}
    reply = accepted(envelope("whois", body=body, reply_to="m", **sender))

    assert greet.card == reply.card


# Rich discovery: the request


def test_include_must_contain_the_word_to_trigger_rich_discovery():
    assert CATALOG_KEY in answer(whois(include=["capability_catalog"]))["ext"]


def test_receivers_should_ignore_unknown_values_inside_include():
    asked = whois(include=["tomorrow", "capability_catalog", "later"])

    assert CATALOG_KEY in answer(asked)["ext"]


@pytest.mark.parametrize("ext", [{}, {"include": []}, {"include": ["tomorrow"]}])
def test_without_the_word_the_responder_must_not_add_the_catalog(ext):
    assert CATALOG_KEY not in answer(whois(**ext)).get("ext", {})
    assert CATALOG_KEY not in answer(whois(**ext, capability_ids=["a"])).get("ext", {})


def entries(**ext):
    sent = answer(whois(include=["capability_catalog"], **ext))
    return [each["id"] for each in sent["ext"][CATALOG_KEY]["capabilities"]]


def test_ids_narrow_the_response_to_matching_capabilities():
    assert entries(capability_ids=["a"]) == ["a"]


def test_unknown_ids_return_an_empty_array():
    assert entries(capability_ids=["z"]) == []


# Rich discovery: the response


def test_id_summary_and_outcome_are_always_present():
    assert list(document().to_wire()) == ["id", "summary", "outcome", "digest"]


@pytest.mark.parametrize(
    ("key", "empty"),
    [
        *(("version", empty) for empty in ("", " ", None)),
        *((key, empty) for key in DOCUMENT_LIST_MEMBERS for empty in ([], [" "], None)),
        *(("requirements", empty) for empty in ([], None)),
    ],
)
def test_optional_members_must_be_omitted_when_empty(key, empty):
    assert key not in document(**{key: empty}).to_wire()


def test_the_digest_must_match_that_of_a_subsequent_transfer():
    entry = build_catalog_ext(CATALOG_ORDER, ASKED)[CATALOG_KEY]["capabilities"][0]
    transfer = build_transfer_body(CATALOG_ORDER[0])["capability"]

    assert entry["digest"] == transfer["digest"] == CATALOG_ORDER[0].compute_digest()


def test_entries_appear_in_catalog_order():
    assert entries() == ["b", "a"]


def test_filtering_preserves_that_order():
    assert entries(capability_ids=["a", "b"]) == ["b", "a"]


@pytest.mark.parametrize("ids", [None, ["b"], ["z"]])
def test_the_response_still_carries_the_normal_card(ids):
    asked = whois(include=["capability_catalog"], capability_ids=ids)

    assert answer(asked)["body"]["peer_card"] == PEER.to_wire()


def test_rich_data_lives_in_the_envelope_s_ext_never_in_the_card_s():
    sent = answer(whois(include=["capability_catalog"]))

    assert CATALOG_KEY in sent["ext"]
    assert CATALOG_KEY not in sent["body"]["peer_card"]["ext"]


def test_without_a_local_catalog_capabilities_must_be_an_empty_list():
    asked = whois(include=["capability_catalog"])
    sent = answer(asked, documents=[], peer=PeerCard(peer_id="agentlens"))

    assert sent["ext"][CATALOG_KEY] == {"capabilities": []}


@pytest.mark.parametrize("ids", [["z"], ["y", "z"], [], [" "], None, "b", [5]])
def test_a_filter_that_leaves_nothing_must_leave_an_empty_list(ids):
    assert entries(capability_ids=ids) == []


def test_a_response_over_the_limit_must_be_rejected_before_emission():
    large = [document(id=f"c{n}", summary="x" * 20_000) for n in range(60)]
    with pytest.raises(EnvelopeTooLarge):
        answer(whois(include=["capability_catalog"]), documents=large)


def test_the_payload_shape_is_read_and_its_placeholder_digest_refused():
    with pytest.raises(EnvelopeError) as caught:
        read_catalog({CATALOG_KEY: sample("capability_catalog")})

    assert caught.value.reason_code == ReasonCode.VERIFICATION_FAILED
    assert caught.value.path == f"$.ext['{CATALOG_KEY}'].capabilities[0].digest"


# Full example


def test_the_example_request_is_taken_and_asks_for_one_document():
    request = accepted(json.dumps(sample("whois_request")).encode())

    assert request.is_request
    assert (request.query, request.to) == ("build-site", "designer.session-19")
    assert CatalogRequest.from_ext(request.ext).ids == {"build-site"}


def test_the_example_request_can_be_emitted_member_by_member():
    stated = sample("whois_request")
    heading = EnvelopeHeader(
        channel="builders",
        sender="ops-coordinator.session-42",
        to="designer.session-19",
        id="msg_whois_catalog_001",
    )
    asked = CatalogRequest(True, frozenset({"build-site"})).to_ext()

    made = build_raw_envelope(
        MessageKind.WHOIS, heading, stated["body"], stated["ts"], asked
    )

    assert made == stated
    assert list(made) == list(stated)


def corrected(stated):
    """The example with the digest that is its document's own."""
    text = json.dumps(stated)
    (entry,) = stated["ext"][CATALOG_KEY]["capabilities"]
    real = CapabilityDocument.parse(entry, Problems()).compute_digest()
    assert real.startswith("sha256:38096a54")
    return json.loads(text.replace(PLACEHOLDER, real))


def test_the_example_response_is_an_envelope_with_a_card():
    reply = accepted(json.dumps(sample("whois_response")).encode())

    assert reply.is_response
    assert reply.card.capabilities == ("build-site", "review-copy")


def test_the_example_response_with_its_real_digest_is_verified():
    reply = accepted(corrected(sample("whois_response")))
    received = read_catalog(reply.ext)

    assert [each.is_verified for each in received] == [True]


def test_the_example_response_can_be_emitted_from_the_example_request():
    stated = corrected(sample("whois_response"))
    request = accepted(sample("whois_request"))
    reply = accepted(stated)
    documents = read_catalog(reply.ext)

    ext = build_catalog_ext(documents, CatalogRequest.from_ext(request.ext))
    heading = EnvelopeHeader.for_reply(request, "designer.session-19")
    body = build_whois_response_body(reply.card)
    made = build_raw_envelope(MessageKind.WHOIS, heading, body, stated["ts"], ext)

    assert made | {"id": stated["id"]} == stated
    assert list(made) == list(stated)


# Explicit transfer


def test_transfer_and_rich_response_must_agree_on_id_summary_outcome_and_digest():
    entry = build_catalog_ext(CATALOG_ORDER, ASKED)[CATALOG_KEY]["capabilities"][1]
    transfer = build_transfer_body(CATALOG_ORDER[1])["capability"]

    for key in ("id", "summary", "outcome", "digest"):
        assert entry[key] == transfer[key]


def test_receivers_should_verify_the_digest_before_caching():
    assert accepted(envelope("capability")).document.is_verified


@pytest.mark.parametrize("key", ["id", "summary", "outcome", "version"])
def test_a_mismatch_must_be_treated_as_verification_failed(key):
    changed = {"capability": signed() | {key: "other"}}

    assert refused(envelope("capability", body=changed)) == (
        "verification_failed",
        "$.body.capability.digest",
    )


def test_a_capability_envelope_may_open_an_interaction():
    taken = accepted(envelope("capability", interaction_id="int_1"))

    assert taken.interaction_id == "int_1"


# Interop rules


def test_neither_brief_nor_rich_is_seen_as_an_empty_list_and_no_keys():
    taken = accepted(envelope())

    assert taken.card.capabilities == ()
    assert taken.card.briefs == []
    assert read_catalog(taken.ext) is None


def test_brief_only_is_seen_as_ids_with_summaries():
    told = {"peer_card": PEER.to_wire()}
    taken = accepted(envelope(body=told, **{"from": "agentlens"}))

    assert taken.card.briefs == [CapabilityBrief("b", "B"), CapabilityBrief("a", "A")]
    assert read_catalog(taken.ext) is None


def test_receivers_must_preserve_unknown_keys_when_forwarding():
    ext = {"zeta.new": {"b": [1, None], "a": "é"}, "agh.tomorrow": [], "acme.x": 1.5}
    sent = envelope("say", ext=ext, tomorrow={"y": 1, "x": 2})

    relayed = accepted(serialize_json(sent)).to_wire()

    assert relayed == sent
    assert json.dumps(relayed) == json.dumps(sent)
