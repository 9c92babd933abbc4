"""The samples and each MUST and SHOULD of the AGH specification, over HTTP."""

import json
import time

import pytest

from tests.capabilities.protocols.agh.messages import load_sample

from .envelopes import (
    BRIEF_KEY,
    CATALOG_KEY,
    PEERS_URL,
    SIZE_LIMIT,
    WRONG_DIGEST,
    assert_rejected,
    build_card,
    build_catalog_request_ext,
    build_document,
    build_envelope,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_transfer_url,
    build_whois,
    build_whois_response,
    fetch_transfer,
    get_capabilities,
    get_catalog,
    get_catalog_ids,
    get_documented_names,
    get_malformed_path,
    post_envelope,
    send_envelopes,
)

pytestmark = pytest.mark.django_db

SAMPLE_PEER_ID = "designer.session-19"
# The correct digests of the two samples; both samples contain another one.
CATALOG_DIGEST_PREFIX = "sha256:56756e53"
RESPONSE_DIGEST_PREFIX = "sha256:38096a54"
OPTIONAL_MEMBERS = [
    "version",
    "context_needed",
    "artifacts_expected",
    "execution_outline",
    "constraints",
    "examples",
    "requirements",
]


def get_timestamp() -> int:
    return int(time.time())


def with_correct_digest(document: dict) -> dict:
    """Return the sample document with its correct digest instead of the printed one."""
    members = {key: document[key] for key in document if key != "digest"}
    return document | {"digest": build_document(**members)["digest"]}


def get_response(client, to="designer", **ext) -> dict:
    """Return the response to a whois request with this ext."""
    (response,) = send_envelopes(client, build_whois(to=to, ext=ext))
    return response


def get_rich_response(client, *ids, to="designer") -> dict:
    """Return the response to a whois request for documents."""
    return get_response(client, to, **build_catalog_request_ext(*ids))


@pytest.fixture
def sample_peer(editor_api):
    """Store the peer of the samples and its only document."""
    peer_card = load_sample("whois_response")["body"]["peer_card"]
    (sample_document,) = get_catalog(load_sample("whois_response"))
    send_envelopes(
        editor_api,
        build_greet_from_card(peer_card),
        build_transfer(with_correct_digest(sample_document), sender=SAMPLE_PEER_ID),
    )


def test_sample_request_returns_sample_response(sample_peer, viewer_api):
    request = load_sample("whois_request") | {"ts": get_timestamp()}
    (response,) = send_envelopes(viewer_api, request)

    expected = load_sample("whois_response")
    digest = response["ext"][CATALOG_KEY]["capabilities"][0]["digest"]
    assert digest.startswith(RESPONSE_DIGEST_PREFIX)
    expected["ext"][CATALOG_KEY]["capabilities"][0]["digest"] = digest
    assert abs(response["ts"] - get_timestamp()) <= 2
    own_members = {"id": response["id"], "ts": response["ts"]}
    assert response == expected | own_members
    assert list(response) == list(expected)


def test_sample_card_is_returned_unchanged(editor_api):
    send_envelopes(editor_api, build_greet_from_card(load_sample("peer_card")))

    returned = editor_api.get(f"{PEERS_URL}/{SAMPLE_PEER_ID}").json()
    assert returned == load_sample("peer_card")


def test_sample_catalog_is_returned_unchanged_except_its_digest(editor_api):
    (sample_document,) = load_sample("capability_catalog")["capabilities"]
    send_envelopes(
        editor_api,
        build_greet("build-site"),
        build_transfer(with_correct_digest(sample_document)),
    )

    (document,) = get_catalog(get_rich_response(editor_api))
    assert document["digest"].startswith(CATALOG_DIGEST_PREFIX)
    assert document | {"digest": sample_document["digest"]} == sample_document
    assert list(document) == list(sample_document)


def test_sample_digest_fails_verification(editor_api):
    (sample_document,) = load_sample("capability_catalog")["capabilities"]

    envelope = build_transfer(sample_document)
    assert_rejected(
        editor_api, envelope, 422, "VERIFICATION_FAILED", "verification_failed"
    )


def test_card_ext_does_not_contain_full_catalog(editor_api):
    send_envelopes(editor_api, build_greet("a"), build_transfer(build_document("a")))

    card = get_rich_response(editor_api)["body"]["peer_card"]
    assert list(card["ext"]) == [BRIEF_KEY]


def test_card_contains_capability_ids_and_briefs(editor_api):
    send_envelopes(editor_api, build_greet(" b ", "a"))

    card = get_response(editor_api)["body"]["peer_card"]
    assert card["capabilities"] == ["b", "a"]
    assert [brief["id"].strip() for brief in card["ext"][BRIEF_KEY]] == ["b", "a"]
    assert [set(brief) for brief in card["ext"][BRIEF_KEY]] == [{"id", "summary"}] * 2


def test_card_without_capabilities_has_empty_list(editor_api):
    send_envelopes(editor_api, build_greet())

    assert get_response(editor_api)["body"]["peer_card"]["capabilities"] == []
    envelope = build_envelope("greet", {"peer_card": build_card(capabilities=None)})
    assert get_malformed_path(editor_api, envelope) == "$.body.peer_card.capabilities"


def test_card_without_capabilities_omits_briefs(editor_api):
    send_envelopes(editor_api, build_greet_from_card(build_card(ext={BRIEF_KEY: []})))

    assert BRIEF_KEY not in get_response(editor_api)["body"]["peer_card"].get("ext", {})


def test_brief_with_document_members_does_not_count_as_document(editor_api):
    brief = {"id": "a", "summary": "s", "outcome": "o", "constraints": ["c"]}
    send_envelopes(
        editor_api, build_greet_from_card(build_card("a", ext={BRIEF_KEY: [brief]}))
    )

    assert get_catalog(get_rich_response(editor_api)) == []
    assert editor_api.get(build_transfer_url("a")).status_code == 404
    assert get_documented_names() == set()


def test_catalog_is_returned_only_for_include_capability_catalog(
    sample_peer, viewer_api
):
    rich_response = get_rich_response(viewer_api, to=SAMPLE_PEER_ID)
    other_include = {"agh.include": ["catalog", "capability"]}

    assert CATALOG_KEY in rich_response["ext"]
    assert "ext" not in get_response(viewer_api, SAMPLE_PEER_ID, **other_include)


def test_unknown_ids_return_empty_catalog(sample_peer, viewer_api):
    response = get_rich_response(viewer_api, "unknown", to=SAMPLE_PEER_ID)

    assert get_catalog(response) == []


def test_unknown_include_values_do_not_hide_the_catalog(sample_peer, viewer_api):
    ext = {"agh.include": ["prices", "capability_catalog", "moods"]}

    response = get_response(viewer_api, SAMPLE_PEER_ID, **ext)
    assert get_catalog_ids(response) == ["build-site"]


def test_ids_without_include_return_no_catalog(sample_peer, viewer_api):
    ext = {"agh.capability_ids": ["build-site"]}
    response = get_response(viewer_api, SAMPLE_PEER_ID, **ext)

    assert CATALOG_KEY not in response.get("ext", {})


def test_document_always_has_id_summary_and_outcome(editor_api):
    send_envelopes(editor_api, build_greet("a"), build_transfer(build_document("a")))

    (document,) = get_catalog(get_rich_response(editor_api))
    assert set(document) == {"id", "summary", "outcome", "digest"}


@pytest.mark.parametrize("member", OPTIONAL_MEMBERS)
def test_empty_optional_members_of_document_are_omitted(editor_api, member):
    empty = "" if member == "version" else []
    send_envelopes(
        editor_api,
        build_greet("a"),
        build_transfer(build_document("a", **{member: empty})),
    )

    (document,) = get_catalog(get_rich_response(editor_api))
    transferred = fetch_transfer(editor_api, "a")["body"]["capability"]
    assert member not in document
    assert member not in transferred


def test_returned_catalog_digest_equals_transfer_digest(sample_peer, editor_api):
    (document,) = get_catalog(get_rich_response(editor_api, to=SAMPLE_PEER_ID))
    transfer = fetch_transfer(editor_api, "build-site", SAMPLE_PEER_ID)

    assert transfer["body"]["capability"]["digest"] == document["digest"]


def test_documents_are_in_card_order_with_and_without_filter(editor_api):
    ids = ["z", "a", "m"]
    send_envelopes(
        editor_api,
        build_greet(*ids),
        *(build_transfer(build_document(name)) for name in sorted(ids)),
    )

    assert get_catalog_ids(get_rich_response(editor_api)) == ids
    assert get_catalog_ids(get_rich_response(editor_api, "m", "z")) == ["z", "m"]


def test_rich_response_contains_the_same_card_as_brief_response(
    sample_peer, viewer_api
):
    brief_body = get_response(viewer_api, SAMPLE_PEER_ID)["body"]
    rich_body = get_rich_response(viewer_api, "build-site", to=SAMPLE_PEER_ID)["body"]

    assert rich_body == brief_body
    assert rich_body["peer_card"]["capabilities"] == ["build-site", "review-copy"]


def test_catalog_of_peer_without_documents_is_empty(editor_api):
    send_envelopes(editor_api, build_greet())

    response = get_rich_response(editor_api)
    assert response["ext"] == {CATALOG_KEY: {"capabilities": []}}
    assert get_catalog(get_rich_response(editor_api, to="agentlens")) == []


def test_filter_without_match_returns_empty_catalog(sample_peer, viewer_api):
    ids = ("review-copy", "unknown")
    response = get_rich_response(viewer_api, *ids, to=SAMPLE_PEER_ID)

    assert response["ext"] == {CATALOG_KEY: {"capabilities": []}}


def test_response_over_size_limit_is_rejected(editor_api):
    send_envelopes(editor_api, build_greet("a", "b"))
    for name in ("a", "b"):
        send_envelopes(
            editor_api,
            build_transfer(build_document(name, examples=["x" * (SIZE_LIMIT // 2)])),
        )

    envelope = build_whois(to="designer", ext=build_catalog_request_ext())
    assert_rejected(editor_api, envelope, 413, "BODY_TOO_LARGE", "internal")


def test_transfer_and_rich_response_have_same_required_members(sample_peer, viewer_api):
    (document,) = get_catalog(get_rich_response(viewer_api, to=SAMPLE_PEER_ID))
    transfer = fetch_transfer(viewer_api, "build-site", SAMPLE_PEER_ID)
    transferred = transfer["body"]["capability"]

    members = ("id", "summary", "outcome", "digest")
    assert [document[key] for key in members] == [transferred[key] for key in members]


def test_wrong_digest_in_catalog_is_rejected_before_storing(editor_api):
    send_envelopes(editor_api, build_greet("a"))
    envelope = build_whois_response(
        build_card("a"), build_document("a", digest=WRONG_DIGEST)
    )
    assert_rejected(
        editor_api, envelope, 422, "VERIFICATION_FAILED", "verification_failed"
    )

    assert get_documented_names() == set()


def test_digest_mismatch_returns_verification_failed(editor_api):
    envelope = build_transfer(build_document() | {"summary": "Another."})

    assert_rejected(
        editor_api, envelope, 422, "VERIFICATION_FAILED", "verification_failed"
    )


def test_transfer_with_interaction_id_is_accepted(editor_api):
    send_envelopes(
        editor_api,
        build_transfer(build_document(), interaction_id="int_1", to="agentlens"),
    )

    assert set(get_capabilities()) == {"build-site"}


def test_card_without_capabilities_has_no_extension_keys(editor_api):
    send_envelopes(editor_api, build_greet())

    response = get_response(editor_api)
    assert response["body"]["peer_card"]["capabilities"] == []
    assert "agh." not in json.dumps(response).replace("agh-network", "")


def test_briefs_contain_only_ids_and_summaries(editor_api):
    send_envelopes(editor_api, build_greet("a"))

    card = get_rich_response(editor_api)["body"]["peer_card"]
    assert card["capabilities"] == ["a"]
    assert card["ext"][BRIEF_KEY] == [{"id": "a", "summary": "Does a."}]


def test_unknown_extension_keys_are_preserved_in_transfer(editor_api):
    ext = {"acme.cost": {"currency": "€", "per": [1, 0.5, None]}, "agh.future": True}
    send_envelopes(
        editor_api,
        build_greet("a"),
        build_transfer(build_document("a"), ext=ext, hops=3),
    )
    transfer = fetch_transfer(editor_api, "a")

    assert (transfer["ext"], transfer["hops"]) == (ext, 3)
    send_envelopes(editor_api, transfer | {"channel": "next"})
    relayed = fetch_transfer(editor_api, "a", channel="next")
    assert relayed["ext"] == ext
    assert relayed["body"] == transfer["body"]


def test_unknown_extension_keys_are_accepted(editor_api):
    ext = {"acme.mood": "fine", "agh.unheard": []}

    send_envelopes(editor_api, build_greet("a", ext=ext))
    assert post_envelope(editor_api, build_whois(ext=ext)).status_code == 200
