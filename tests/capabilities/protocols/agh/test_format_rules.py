"""Tests of the format rules of the AGH specification, in its order."""

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
from capabilities.protocols.agh.members import dump_compact_json

from .messages import (
    NOW,
    PLACEHOLDER,
    build_card,
    build_document,
    build_received_envelope,
    build_verified_document,
    get_parse_error,
    load_sample,
    parse_card,
    parse_envelope,
)

BRIEF_KEY = "agh.capabilities_brief"
REQUEST = CatalogRequest(include_documents=True)
CATALOG_ORDER = [
    build_document(id="b", summary="B"),
    build_document(id="a", summary="A"),
]
PEER_CARD = PeerCard(peer_id="agentlens").with_capabilities(
    CapabilityBrief(document.id, document.summary) for document in CATALOG_ORDER
)


def respond(request, documents=CATALOG_ORDER, peer_card=PEER_CARD):
    """Return the whois response of a peer with these documents, as it is sent."""
    ext = build_catalog_ext(documents, CatalogRequest.from_ext(request.ext))
    header = EnvelopeHeader.for_reply(request, peer_card.peer_id)
    return build_envelope(
        MessageKind.WHOIS, header, build_whois_response_body(peer_card), NOW, ext
    ).raw


def build_whois(**ext):
    return parse_envelope(
        build_received_envelope("whois", ext={f"agh.{key}": ext[key] for key in ext})
    )


# Roles of capabilities


def test_peer_card_ext_never_contains_the_catalog():
    peer_card = parse_card(
        ext={CATALOG_KEY: {"capabilities": [build_verified_document()]}}
    )

    assert "ext" not in peer_card.to_wire()


# Brief discovery


def test_peer_card_lists_ids_trimmed_in_catalog_order():
    wire = PEER_CARD.with_capabilities(
        [CapabilityBrief(" b "), CapabilityBrief("a\n")]
    ).to_wire()

    assert wire["capabilities"] == ["b", "a"]


def test_peer_card_briefs_match_capabilities():
    wire = PEER_CARD.to_wire()

    assert wire["ext"][BRIEF_KEY] == [
        {"id": "b", "summary": "B"},
        {"id": "a", "summary": "A"},
    ]
    assert [brief["id"] for brief in wire["ext"][BRIEF_KEY]] == wire["capabilities"]


def test_peer_card_without_capabilities_has_empty_list():
    assert PEER_CARD.with_capabilities([]).to_wire()["capabilities"] == []


@pytest.mark.parametrize(
    "peer_card",
    [
        PEER_CARD.with_capabilities([]),
        parse_card(ext={BRIEF_KEY: []}),
        PeerCard(peer_id="x"),
    ],
)
def test_peer_card_without_capabilities_omits_briefs(peer_card):
    assert BRIEF_KEY not in peer_card.to_wire().get("ext", {})


def test_null_capabilities_are_malformed():
    body = {"peer_card": build_card(capabilities=None)}

    assert get_parse_error(build_received_envelope(body=body)) == (
        "malformed",
        "$.body.peer_card.capabilities",
    )


@pytest.mark.parametrize("brief", [None, 5, "x", {}, [None], [{}], [{"id": 1}]])
def test_malformed_brief_is_ignored_by_receiver(brief):
    peer_card = build_card(capabilities=["a"], ext={BRIEF_KEY: brief})

    assert parse_envelope(
        build_received_envelope(body={"peer_card": peer_card})
    ).card.briefs == [CapabilityBrief("a")]


def test_briefs_contain_only_id_and_summary():
    for brief in PEER_CARD.to_wire()["ext"][BRIEF_KEY]:
        assert set(brief) == {"id", "summary"}


def test_example_card_survives_round_trip():
    raw = load_sample("peer_card")
    problems = Problems()

    parsed = PeerCard.parse(raw, problems)

    assert not problems.errors
    assert parsed.to_wire() == raw
    assert list(parsed.to_wire()) == list(raw)
    assert [brief.summary for brief in parsed.briefs] == [
        "Build the landing page.",
        "Review conversion copy.",
    ]


def test_greet_and_response_contain_the_same_card():
    raw = load_sample("peer_card")
    sender = {"from": raw["peer_id"]}
    greet = parse_envelope(build_received_envelope(body={"peer_card": raw}, **sender))
    body = {"type": "response", "peer_card": raw}
    reply = parse_envelope(
        build_received_envelope("whois", body=body, reply_to="m", **sender)
    )

    assert greet.card == reply.card


# Rich discovery: the request


def test_include_capability_catalog_returns_the_catalog():
    assert CATALOG_KEY in respond(build_whois(include=["capability_catalog"]))["ext"]


def test_response_ignores_unknown_include_values():
    request = build_whois(include=["tomorrow", "capability_catalog", "later"])

    assert CATALOG_KEY in respond(request)["ext"]


@pytest.mark.parametrize("ext", [{}, {"include": []}, {"include": ["tomorrow"]}])
def test_response_omits_catalog_unless_included(ext):
    assert CATALOG_KEY not in respond(build_whois(**ext)).get("ext", {})
    assert CATALOG_KEY not in respond(build_whois(**ext, capability_ids=["a"])).get(
        "ext", {}
    )


def request_ids(**ext):
    response = respond(build_whois(include=["capability_catalog"], **ext))
    return [entry["id"] for entry in response["ext"][CATALOG_KEY]["capabilities"]]


def test_capability_ids_filter_the_response():
    assert request_ids(capability_ids=["a"]) == ["a"]


def test_unknown_capability_ids_return_an_empty_list():
    assert request_ids(capability_ids=["z"]) == []


# Rich discovery: the response


def test_wire_document_has_id_summary_outcome_and_digest():
    assert list(build_document().to_wire()) == ["id", "summary", "outcome", "digest"]


@pytest.mark.parametrize(
    ("key", "empty"),
    [
        *(("version", empty) for empty in ("", " ", None)),
        *((key, empty) for key in DOCUMENT_LIST_MEMBERS for empty in ([], [" "], None)),
        *(("requirements", empty) for empty in ([], None)),
    ],
)
def test_empty_optional_members_are_omitted(key, empty):
    assert key not in build_document(**{key: empty}).to_wire()


def test_catalog_digest_equals_transfer_digest():
    entry = build_catalog_ext(CATALOG_ORDER, REQUEST)[CATALOG_KEY]["capabilities"][0]
    transfer = build_transfer_body(CATALOG_ORDER[0])["capability"]

    assert entry["digest"] == transfer["digest"] == CATALOG_ORDER[0].compute_digest()


def test_response_entries_are_in_catalog_order():
    assert request_ids() == ["b", "a"]


def test_filtered_entries_keep_catalog_order():
    assert request_ids(capability_ids=["a", "b"]) == ["b", "a"]


@pytest.mark.parametrize("ids", [None, ["b"], ["z"]])
def test_response_contains_the_peer_card(ids):
    request = build_whois(include=["capability_catalog"], capability_ids=ids)

    assert respond(request)["body"]["peer_card"] == PEER_CARD.to_wire()


def test_catalog_is_in_envelope_ext_not_in_card_ext():
    response = respond(build_whois(include=["capability_catalog"]))

    assert CATALOG_KEY in response["ext"]
    assert CATALOG_KEY not in response["body"]["peer_card"]["ext"]


def test_response_without_local_catalog_has_empty_capabilities():
    request = build_whois(include=["capability_catalog"])
    response = respond(request, documents=[], peer_card=PeerCard(peer_id="agentlens"))

    assert response["ext"][CATALOG_KEY] == {"capabilities": []}


@pytest.mark.parametrize("ids", [["z"], ["y", "z"], [], [" "], None, "b", [5]])
def test_filter_without_matches_returns_an_empty_list(ids):
    assert request_ids(capability_ids=ids) == []


def test_response_over_size_limit_is_not_built():
    documents = [build_document(id=f"c{n}", summary="x" * 20_000) for n in range(60)]
    with pytest.raises(EnvelopeTooLarge):
        respond(build_whois(include=["capability_catalog"]), documents=documents)


def test_example_catalog_with_placeholder_digest_is_rejected():
    with pytest.raises(EnvelopeError) as caught:
        read_catalog({CATALOG_KEY: load_sample("capability_catalog")})

    assert caught.value.reason_code == ReasonCode.VERIFICATION_FAILED
    assert caught.value.path == f"$.ext['{CATALOG_KEY}'].capabilities[0].digest"


# Full example


def test_example_request_requests_one_document():
    request = parse_envelope(json.dumps(load_sample("whois_request")).encode())

    assert request.is_whois_request
    assert (request.query, request.to) == ("build-site", "designer.session-19")
    assert CatalogRequest.from_ext(request.ext).ids == {"build-site"}


def test_example_request_can_be_built():
    example = load_sample("whois_request")
    header = EnvelopeHeader(
        channel="builders",
        sender="ops-coordinator.session-42",
        to="designer.session-19",
        id="msg_whois_catalog_001",
    )
    ext = CatalogRequest(True, frozenset({"build-site"})).to_ext()

    envelope = build_raw_envelope(
        MessageKind.WHOIS, header, example["body"], example["ts"], ext
    )

    assert envelope == example
    assert list(envelope) == list(example)


def replace_digest(envelope):
    """Return the example with the correct digest of its document."""
    text = json.dumps(envelope)
    (entry,) = envelope["ext"][CATALOG_KEY]["capabilities"]
    digest = CapabilityDocument.parse(entry, Problems()).compute_digest()
    assert digest.startswith("sha256:38096a54")
    return json.loads(text.replace(PLACEHOLDER, digest))


def test_example_response_has_a_card():
    reply = parse_envelope(json.dumps(load_sample("whois_response")).encode())

    assert reply.is_whois_response
    assert reply.card.capabilities == ("build-site", "review-copy")


def test_example_response_with_correct_digest_is_verified():
    reply = parse_envelope(replace_digest(load_sample("whois_response")))
    documents = read_catalog(reply.ext)

    assert [document.is_verified for document in documents] == [True]


def test_example_response_can_be_built_from_example_request():
    example = replace_digest(load_sample("whois_response"))
    request = parse_envelope(load_sample("whois_request"))
    reply = parse_envelope(example)
    documents = read_catalog(reply.ext)

    ext = build_catalog_ext(documents, CatalogRequest.from_ext(request.ext))
    header = EnvelopeHeader.for_reply(request, "designer.session-19")
    body = build_whois_response_body(reply.card)
    envelope = build_raw_envelope(MessageKind.WHOIS, header, body, example["ts"], ext)

    assert envelope | {"id": example["id"]} == example
    assert list(envelope) == list(example)


# Explicit transfer


def test_transfer_and_response_have_the_same_required_members():
    entry = build_catalog_ext(CATALOG_ORDER, REQUEST)[CATALOG_KEY]["capabilities"][1]
    transfer = build_transfer_body(CATALOG_ORDER[1])["capability"]

    for key in ("id", "summary", "outcome", "digest"):
        assert entry[key] == transfer[key]


def test_received_document_is_verified():
    assert parse_envelope(build_received_envelope("capability")).document.is_verified


@pytest.mark.parametrize("key", ["id", "summary", "outcome", "version"])
def test_digest_mismatch_is_verification_failed(key):
    body = {"capability": build_verified_document() | {key: "other"}}

    assert get_parse_error(build_received_envelope("capability", body=body)) == (
        "verification_failed",
        "$.body.capability.digest",
    )


def test_capability_envelope_with_interaction_id_is_valid():
    envelope = parse_envelope(
        build_received_envelope("capability", interaction_id="int_1")
    )

    assert envelope.interaction_id == "int_1"


# Interop rules


def test_greet_without_briefs_and_catalog_has_neither():
    envelope = parse_envelope(build_received_envelope())

    assert envelope.card.capabilities == ()
    assert envelope.card.briefs == []
    assert read_catalog(envelope.ext) is None


def test_greet_with_briefs_has_summaries_and_no_catalog():
    body = {"peer_card": PEER_CARD.to_wire()}
    envelope = parse_envelope(
        build_received_envelope(body=body, **{"from": "agentlens"})
    )

    assert envelope.card.briefs == [
        CapabilityBrief("b", "B"),
        CapabilityBrief("a", "A"),
    ]
    assert read_catalog(envelope.ext) is None


def test_forwarding_preserves_unknown_keys():
    ext = {"zeta.new": {"b": [1, None], "a": "é"}, "agh.tomorrow": [], "acme.x": 1.5}
    sent = build_received_envelope("say", ext=ext, tomorrow={"y": 1, "x": 2})

    forwarded = parse_envelope(dump_compact_json(sent)).to_wire()

    assert forwarded == sent
    assert json.dumps(forwarded) == json.dumps(sent)
