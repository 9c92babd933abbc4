"""The seed over HTTP: its examples, and every MUST and SHOULD under its own words."""

import json
import time
from pathlib import Path

import pytest

from .agh import (
    BRIEF_KEY,
    CATALOG_KEY,
    FALSE_DIGEST,
    LIMIT,
    PEERS,
    capabilities,
    card,
    catalog_of,
    document,
    envelope,
    greet,
    greet_with,
    ids_of,
    known_in_full,
    malformed_error,
    post,
    refused,
    response,
    rich,
    send,
    transfer,
    whois,
)

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[3] / "data/agh"
DESIGNER = "designer.session-19"
# The digests of the two examples; the one that is printed there is of neither.
SHORT = "sha256:56756e53"
FULL = "sha256:38096a54"
OPTIONAL = [
    "version",
    "context_needed",
    "artifacts_expected",
    "execution_outline",
    "constraints",
    "examples",
    "requirements",
]


def sample(name: str) -> dict:
    return json.loads((DATA / f"{name}.json").read_text())


def now() -> int:
    return int(time.time())


def own_digest(told: dict) -> dict:
    """The document with the digest that is its own, not the sample's."""
    return document(**{key: told[key] for key in told if key != "digest"})


def asked(client, to="designer", **ext) -> dict:
    (answer,) = send(client, whois(to=to, ext=ext))
    return answer


@pytest.fixture
def designer(editor):
    """The peer of the seed's examples, and its one whole document."""
    peer_card = sample("whois_response")["body"]["peer_card"]
    (whole,) = sample("whois_response")["ext"][CATALOG_KEY]["capabilities"]
    send(editor, greet_with(peer_card), transfer(own_digest(whole), sender=DESIGNER))


def test_the_examples_request_is_answered_by_the_examples_response(designer, viewer):
    request = sample("whois_request") | {"ts": now()}
    (answer,) = send(viewer, request)

    expected = sample("whois_response")
    digest = answer["ext"][CATALOG_KEY]["capabilities"][0]["digest"]
    assert digest.startswith(FULL)
    expected["ext"][CATALOG_KEY]["capabilities"][0]["digest"] = digest
    assert abs(answer["ts"] - now()) <= 2
    ours = {"id": answer["id"], "ts": answer["ts"]}
    assert answer == expected | ours
    assert list(answer) == list(expected)


def test_the_examples_peer_card_is_told_as_it_greeted(editor):
    send(editor, greet_with(sample("peer_card")))

    assert editor.get(f"{PEERS}/{DESIGNER}").json() == sample("peer_card")


def test_the_examples_catalog_is_answered_as_it_is_printed(editor):
    (whole,) = sample("capability_catalog")["capabilities"]
    send(editor, greet("build-site"), transfer(own_digest(whole)))

    (told,) = catalog_of(asked(editor, **rich()))
    assert told["digest"].startswith(SHORT)
    assert told | {"digest": whole["digest"]} == whole
    assert list(told) == list(whole)


def test_the_digest_printed_in_the_examples_is_nobodys(editor):
    (whole,) = sample("capability_catalog")["capabilities"]

    said = transfer(whole)
    refused(editor, said, 422, "VERIFICATION_FAILED", "verification_failed")


def test_the_full_catalog_never_rides_inside_peer_card_ext(editor):
    send(editor, greet("a"), transfer(document("a")))

    told = asked(editor, **rich())["body"]["peer_card"]
    assert list(told["ext"]) == [BRIEF_KEY]


def test_a_catalog_must_be_projected_into_the_card_in_two_places(editor):
    send(editor, greet(" b ", "a"))

    told = asked(editor)["body"]["peer_card"]
    assert told["capabilities"] == ["b", "a"]
    assert [brief["id"].strip() for brief in told["ext"][BRIEF_KEY]] == ["b", "a"]
    assert [set(brief) for brief in told["ext"][BRIEF_KEY]] == [{"id", "summary"}] * 2


def test_a_peer_without_a_catalog_must_still_emit_an_empty_list(editor):
    send(editor, greet())

    assert asked(editor)["body"]["peer_card"]["capabilities"] == []
    nothing = envelope("greet", {"peer_card": card(capabilities=None)})
    assert malformed_error(editor, nothing) == "$.body.peer_card.capabilities"


def test_a_peer_without_a_catalog_must_omit_the_brief(editor):
    send(editor, greet_with(card(ext={BRIEF_KEY: []})))

    assert BRIEF_KEY not in asked(editor)["body"]["peer_card"].get("ext", {})


def test_receivers_must_treat_the_brief_as_advisory(editor):
    """It proves nothing: what is only claimed is neither listed nor handed over."""
    claim = {"id": "a", "summary": "s", "outcome": "o", "constraints": ["c"]}
    send(editor, greet_with(card("a", ext={BRIEF_KEY: [claim]})))

    assert catalog_of(asked(editor, **rich())) == []
    assert editor.get(f"{PEERS}/designer/capabilities/a").status_code == 404
    assert known_in_full() == set()


def test_include_must_contain_the_word_to_trigger_rich_discovery(designer, viewer):
    assert CATALOG_KEY in asked(viewer, DESIGNER, **rich())["ext"]
    words = {"agh.include": ["catalog", "capability"]}
    assert "ext" not in asked(viewer, DESIGNER, **words)


def test_unknown_ids_return_an_empty_array(designer, viewer):
    assert catalog_of(asked(viewer, DESIGNER, **rich("unknown"))) == []


def test_receivers_should_ignore_unknown_values_inside_include(designer, viewer):
    words = {"agh.include": ["prices", "capability_catalog", "moods"]}

    assert ids_of(asked(viewer, DESIGNER, **words)) == ["build-site"]


def test_without_the_word_the_responder_must_not_add_a_catalog(designer, viewer):
    answer = asked(viewer, DESIGNER, **{"agh.capability_ids": ["build-site"]})

    assert CATALOG_KEY not in answer.get("ext", {})


def test_id_summary_and_outcome_are_always_present(editor):
    send(editor, greet("a"), transfer(document("a")))

    (told,) = catalog_of(asked(editor, **rich()))
    assert set(told) == {"id", "summary", "outcome", "digest"}


@pytest.mark.parametrize("member", OPTIONAL)
def test_optional_members_must_be_omitted_when_empty(editor, member):
    empty = "" if member == "version" else []
    send(editor, greet("a"), transfer(document("a", **{member: empty})))

    (told,) = catalog_of(asked(editor, **rich()))
    handed = editor.get(f"{PEERS}/designer/capabilities/a").json()["body"]["capability"]
    assert member not in told
    assert member not in handed


def test_the_digest_must_match_that_of_a_subsequent_transfer(designer, editor):
    (told,) = catalog_of(asked(editor, DESIGNER, **rich()))
    place = f"{PEERS}/{DESIGNER}/capabilities/build-site"

    assert editor.get(place).json()["body"]["capability"]["digest"] == told["digest"]


def test_entries_appear_in_catalog_order_and_filtering_preserves_it(editor):
    ids = ["z", "a", "m"]
    send(editor, greet(*ids), *(transfer(document(each)) for each in sorted(ids)))

    assert ids_of(asked(editor, **rich())) == ids
    assert ids_of(asked(editor, **rich("m", "z"))) == ["z", "m"]


def test_the_response_still_carries_the_normal_card(designer, viewer):
    brief = asked(viewer, DESIGNER)["body"]
    full = asked(viewer, DESIGNER, **rich("build-site"))["body"]

    assert full == brief
    assert full["peer_card"]["capabilities"] == ["build-site", "review-copy"]


def test_without_a_local_catalog_the_list_must_be_empty(editor):
    send(editor, greet())

    assert asked(editor, **rich())["ext"] == {CATALOG_KEY: {"capabilities": []}}
    assert catalog_of(asked(editor, "agentlens", **rich())) == []


def test_when_the_filter_leaves_nothing_the_list_must_be_empty(designer, viewer):
    ext = asked(viewer, DESIGNER, **rich("review-copy", "unknown"))["ext"]

    assert ext == {CATALOG_KEY: {"capabilities": []}}


def test_responses_over_the_limit_must_be_rejected_before_emission(editor):
    send(editor, greet("a", "b"))
    for each in ("a", "b"):
        send(editor, transfer(document(each, examples=["x" * (LIMIT // 2)])))

    said = whois(to="designer", ext=rich())
    refused(editor, said, 413, "BODY_TOO_LARGE", "internal")


def test_a_transfer_and_a_rich_response_must_agree(designer, viewer):
    (told,) = catalog_of(asked(viewer, DESIGNER, **rich()))
    place = f"{PEERS}/{DESIGNER}/capabilities/build-site"
    handed = viewer.get(place).json()["body"]["capability"]

    agreed = ("id", "summary", "outcome", "digest")
    assert [told[key] for key in agreed] == [handed[key] for key in agreed]


def test_receivers_should_verify_the_digest_before_caching(editor):
    send(editor, greet("a"))
    said = response(card("a"), document("a", digest=FALSE_DIGEST))
    refused(editor, said, 422, "VERIFICATION_FAILED", "verification_failed")

    assert known_in_full() == set()


def test_a_mismatch_must_be_treated_as_verification_failed(editor):
    said = transfer(document() | {"summary": "Another."})

    refused(editor, said, 422, "VERIFICATION_FAILED", "verification_failed")


def test_a_transfer_may_open_or_continue_an_interaction(editor):
    send(editor, transfer(document(), interaction_id="int_1", to="agentlens"))

    assert set(capabilities()) == {"build-site"}


def test_neither_brief_nor_rich_shows_no_extension_keys(editor):
    send(editor, greet())

    answer = asked(editor)
    assert answer["body"]["peer_card"]["capabilities"] == []
    assert "agh." not in json.dumps(answer).replace("agh-network", "")


def test_brief_only_lists_ids_and_summaries(editor):
    send(editor, greet("a"))

    told = asked(editor, **rich())["body"]["peer_card"]
    assert told["capabilities"] == ["a"]
    assert told["ext"][BRIEF_KEY] == [{"id": "a", "summary": "Does a."}]


def test_unknown_extension_keys_must_be_preserved_when_forwarding(editor):
    ext = {"acme.cost": {"currency": "€", "per": [1, 0.5, None]}, "agh.future": True}
    send(editor, greet("a"), transfer(document("a"), ext=ext, hops=3))
    handed = editor.get(f"{PEERS}/designer/capabilities/a").json()

    assert (handed["ext"], handed["hops"]) == (ext, 3)
    send(editor, handed | {"channel": "next"})
    relayed = editor.get(f"{PEERS}/designer/capabilities/a?channel=next").json()
    assert relayed["ext"] == ext
    assert relayed["body"] == handed["body"]


def test_unknown_extension_keys_are_no_reason_to_refuse(editor):
    ext = {"acme.mood": "fine", "agh.unheard": []}

    send(editor, greet("a", ext=ext))
    assert post(editor, whois(ext=ext)).status_code == 200
