"""Whatever is said in a document, a card or an ext comes through unchanged."""

import json

from hypothesis import given
from hypothesis import strategies as st

from capabilities.problems import Problems
from capabilities.protocols.agh.bodies import transfer_body
from capabilities.protocols.agh.cards import Brief, PeerCard
from capabilities.protocols.agh.catalogs import (
    CatalogRequest,
    catalog_ext,
    read_catalog,
)
from capabilities.protocols.agh.credentials import names_secret
from capabilities.protocols.agh.documents import (
    LISTS,
    ON_THE_WIRE,
    CapabilityDocument,
)
from capabilities.protocols.agh.envelopes import MEMBERS, Heading, MessageKind, emit
from capabilities.protocols.agh.identifiers import trimmed
from capabilities.protocols.agh.members import serialised

from .making import NOW, accepted, envelope

TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    | st.sampled_from('<>&\u2028\u2029\x1f\x85\u3000"\\/ \t\x7f'),
    max_size=12,
)
WORDS = TEXTS.filter(trimmed)
KEYS = WORDS.filter(lambda key: not names_secret(key))
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
            **{key: st.lists(TEXTS, max_size=3) for key in LISTS},
            "requirements": st.lists(WORDS, max_size=3, unique_by=trimmed),
        },
    ),
    EXTS.map(lambda ext: {k: ext[k] for k in ext if k not in ON_THE_WIRE}),
)


def read(stated):
    problems = Problems()
    document = CapabilityDocument.read(stated, problems)
    assert not problems.errors
    return document


@given(STATED)
def test_a_document_on_the_wire_is_the_same_document_verified(stated):
    document = read(stated)

    again = read(json.loads(json.dumps(document.to_wire())))

    assert again.verified
    assert again.canonical_json() == document.canonical_json()
    assert again.unknown == document.unknown
    assert again.to_wire() == document.to_wire()


@given(STATED)
def test_the_canonical_text_is_json_of_the_normalised_members(stated):
    document = read(stated)
    said = json.loads(document.canonical_json())

    assert said == {
        key: value
        for key, value in document.to_wire().items()
        if key in ON_THE_WIRE and key != "digest"
    }
    assert not set("<>&\u2028\u2029") & set(document.canonical_json().decode())


@given(STATED)
def test_a_transfer_goes_out_and_comes_in(stated):
    document = read(stated)
    heading = Heading(channel="c", sender="x")

    sent = emit(MessageKind.CAPABILITY, heading, transfer_body(document), NOW)
    taken = accepted(serialised(sent.raw))

    assert taken.document.raw == document.to_wire()
    assert taken.document.digest() == document.digest()


@given(st.lists(STATED, max_size=4, unique_by=lambda each: trimmed(each["id"])))
def test_a_catalog_goes_out_and_comes_in(listed):
    documents = [read(each) for each in listed]
    asked = CatalogRequest(wanted=True)

    received = read_catalog(catalog_ext(documents, asked))

    assert [each.to_wire() for each in received] == [
        each.to_wire() for each in documents
    ]
    briefs = [Brief(each.id, each.summary) for each in documents]
    card = PeerCard(peer_id="x").offering(briefs)
    assert PeerCard.read(card.to_wire(), Problems()).brief() == briefs


@given(EXTS, st.dictionaries(KEYS.filter(lambda key: key not in MEMBERS), VALUES))
def test_ext_and_unknown_members_come_through_in_their_order(ext, unknown):
    sent = {**unknown, **envelope("say", ext=ext)}
    sent |= {f"x {key}": value for key, value in unknown.items()}

    taken = accepted(serialised(sent))

    assert taken.ext == ext
    assert json.dumps(taken.relayed()) == json.dumps(sent)


@given(EXTS, EXTS)
def test_the_ext_of_a_card_and_its_unknown_members_come_through(ext, unknown):
    stated = {**PeerCard(peer_id="x", ext=ext).to_wire()}
    stated |= {f"x {key}": value for key, value in unknown.items()}

    assert PeerCard.read(stated, Problems()).to_wire() == stated
