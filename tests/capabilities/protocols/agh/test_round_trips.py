"""Whatever is said in a document, a card or an ext comes through unchanged."""

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
    WIRE_MEMBERS,
    CapabilityDocument,
)
from capabilities.protocols.agh.envelopes import (
    ENVELOPE_MEMBERS,
    EnvelopeHeader,
    MessageKind,
    build_envelope,
)
from capabilities.protocols.agh.identifiers import trim
from capabilities.protocols.agh.members import serialize_json

from .making import NOW, accepted, envelope

TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    | st.sampled_from('<>&\u2028\u2029\x1f\x85\u3000"\\/ \t\x7f'),
    max_size=12,
)
WORDS = TEXTS.filter(trim)
KEYS = WORDS.filter(lambda key: not is_secret_key(key))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=3)
    ),
    max_leaves=8,
)
EXTS = st.dictionaries(KEYS, VALUES, max_size=5)
STATED = st.builds(
    lambda required, optional, unknown: {**unknown, **required, **optional},
    st.fixed_dictionaries(dict.fromkeys(("id", "summary", "outcome"), WORDS)),
    st.fixed_dictionaries(
        {},
        optional={
            "version": TEXTS,
            **{key: st.lists(TEXTS, max_size=3) for key in DOCUMENT_LIST_MEMBERS},
            "requirements": st.lists(WORDS, max_size=3, unique_by=trim),
        },
    ),
    EXTS.map(lambda ext: {k: ext[k] for k in ext if k not in WIRE_MEMBERS}),
)


def read(stated):
    problems = Problems()
    document = CapabilityDocument.parse(stated, problems)
    assert not problems.errors
    return document


@given(STATED)
def test_a_document_on_the_wire_is_the_same_document_verified(stated):
    document = read(stated)

    again = read(json.loads(json.dumps(document.to_wire())))

    assert again.is_verified
    assert again.canonical_json() == document.canonical_json()
    assert again.unknown_members == document.unknown_members
    assert again.to_wire() == document.to_wire()


@given(STATED)
def test_the_canonical_text_is_json_of_the_normalised_members(stated):
    document = read(stated)
    said = json.loads(document.canonical_json())

    assert said == {
        key: value
        for key, value in document.to_wire().items()
        if key in WIRE_MEMBERS and key != "digest"
    }
    assert not set("<>&\u2028\u2029") & set(document.canonical_json().decode())


@given(STATED)
def test_a_transfer_goes_out_and_comes_in(stated):
    document = read(stated)
    heading = EnvelopeHeader(channel="c", sender="x")

    sent = build_envelope(
        MessageKind.CAPABILITY, heading, build_transfer_body(document), NOW
    )
    taken = accepted(serialize_json(sent.raw))

    assert taken.document.raw == document.to_wire()
    assert taken.document.compute_digest() == document.digest()


@given(st.lists(STATED, max_size=4, unique_by=lambda each: trim(each["id"])))
def test_a_catalog_goes_out_and_comes_in(listed):
    documents = [read(each) for each in listed]
    asked = CatalogRequest(include_documents=True)

    received = read_catalog(build_catalog_ext(documents, asked))

    assert [each.to_wire() for each in received] == [
        each.to_wire() for each in documents
    ]
    briefs = [CapabilityBrief(each.id, each.summary) for each in documents]
    card = PeerCard(peer_id="x").with_capabilities(briefs)
    assert PeerCard.parse(card.to_wire(), Problems()).briefs == briefs


@given(
    EXTS, st.dictionaries(KEYS.filter(lambda key: key not in ENVELOPE_MEMBERS), VALUES)
)
def test_ext_and_unknown_members_come_through_in_their_order(ext, unknown):
    sent = {**unknown, **envelope("say", ext=ext)}
    sent |= {f"x {key}": value for key, value in unknown.items()}

    taken = accepted(serialize_json(sent))

    assert taken.ext == ext
    assert json.dumps(taken.to_wire()) == json.dumps(sent)


@given(EXTS, EXTS)
def test_the_ext_of_a_card_and_its_unknown_members_come_through(ext, unknown):
    stated = {**PeerCard(peer_id="x", ext=ext).to_wire()}
    stated |= {f"x {key}": value for key, value in unknown.items()}

    assert PeerCard.parse(stated, Problems()).to_wire() == stated
