"""Tests that documents, cards and ext survive being sent and received."""

import json

from hypothesis import given
from hypothesis import strategies as st

from capabilities.problems import Problems
from capabilities.protocols.agh.bodies import build_transfer_body
from capabilities.protocols.agh.cards import CapabilityBrief, PeerCard
from capabilities.protocols.agh.catalogs import (
    CatalogRequest,
    build_catalog_ext,
    read_catalog,
)
from capabilities.protocols.agh.credentials import is_secret_key
from capabilities.protocols.agh.documents import (
    DOCUMENT_LIST_MEMBERS,
    HASHED_MEMBERS,
    WIRE_MEMBERS,
    CapabilityDocument,
)
from capabilities.protocols.agh.envelopes import (
    ENVELOPE_MEMBERS,
    EnvelopeHeader,
    MessageKind,
    build_envelope,
)
from capabilities.protocols.agh.identifiers import normalize_text
from capabilities.protocols.agh.members import dump_compact_json

from .messages import NOW, build_received_envelope, parse_envelope

texts = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    | st.sampled_from('<>&\u2028\u2029\x1f\x85\u3000"\\/ \t\x7f'),
    max_size=12,
)
non_blank_texts = texts.filter(normalize_text)
keys = non_blank_texts.filter(lambda key: not is_secret_key(key))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(keys, inside, max_size=3)
    ),
    max_leaves=8,
)
exts = st.dictionaries(keys, values, max_size=5)
raw_documents = st.builds(
    lambda required, optional, unknown: {**unknown, **required, **optional},
    st.fixed_dictionaries(dict.fromkeys(("id", "summary", "outcome"), non_blank_texts)),
    st.fixed_dictionaries(
        {},
        optional={
            "version": texts,
            **{key: st.lists(texts, max_size=3) for key in DOCUMENT_LIST_MEMBERS},
            "requirements": st.lists(
                non_blank_texts, max_size=3, unique_by=normalize_text
            ),
        },
    ),
    exts.map(lambda ext: {k: ext[k] for k in ext if k not in WIRE_MEMBERS}),
)


def parse_document(raw):
    problems = Problems()
    document = CapabilityDocument.parse(raw, problems)
    assert not problems.errors
    return document


@given(raw_documents)
def test_document_survives_wire_round_trip(raw):
    document = parse_document(raw)

    restored = parse_document(json.loads(json.dumps(document.to_wire())))

    assert restored.is_verified
    assert restored.canonical_json() == document.canonical_json()
    assert restored.to_wire() == document.to_wire()


@given(raw_documents)
def test_canonical_json_has_the_normalized_members(raw):
    document = parse_document(raw)
    canonical = json.loads(document.canonical_json())

    assert canonical == document.select_members(HASHED_MEMBERS)
    assert canonical.keys() <= document.to_wire().keys()
    assert not set("<>&\u2028\u2029") & set(document.canonical_json().decode())


@given(raw_documents)
def test_transfer_survives_envelope_round_trip(raw):
    document = parse_document(raw)
    header = EnvelopeHeader(channel="c", sender="x")

    sent = build_envelope(
        MessageKind.CAPABILITY, header, build_transfer_body(document), NOW
    )
    received = parse_envelope(dump_compact_json(sent.raw))

    assert received.document.raw == document.to_wire()
    assert received.document.compute_digest() == document.compute_digest()


@given(
    st.lists(raw_documents, max_size=4, unique_by=lambda raw: normalize_text(raw["id"]))
)
def test_catalog_survives_round_trip(raw_documents):
    documents = [parse_document(raw) for raw in raw_documents]
    request = CatalogRequest(include_documents=True)

    received = read_catalog(build_catalog_ext(documents, request))

    assert [document.to_wire() for document in received] == [
        document.to_wire() for document in documents
    ]
    briefs = [CapabilityBrief(document.id, document.summary) for document in documents]
    card = PeerCard(peer_id="x").with_capabilities(briefs)
    assert PeerCard.parse(card.to_wire(), Problems()).briefs == briefs


@given(
    exts, st.dictionaries(keys.filter(lambda key: key not in ENVELOPE_MEMBERS), values)
)
def test_ext_and_unknown_members_keep_their_order(ext, unknown):
    sent = {**unknown, **build_received_envelope("say", ext=ext)}
    sent |= {f"x {key}": value for key, value in unknown.items()}

    received = parse_envelope(dump_compact_json(sent))

    assert received.ext == ext
    assert json.dumps(received.to_wire()) == json.dumps(sent)


@given(exts, exts)
def test_card_keeps_ext_and_unknown_members(ext, unknown):
    raw = {**PeerCard(peer_id="x", ext=ext).to_wire()}
    raw |= {f"x {key}": value for key, value in unknown.items()}

    assert PeerCard.parse(raw, Problems()).to_wire() == raw
