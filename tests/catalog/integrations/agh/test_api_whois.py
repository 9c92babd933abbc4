"""Whois: who answers, briefly or in full, and what is learnt from others' answers."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import CatalogEntry, Status

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
    entry_of,
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
    sender_of,
    transfer,
    whois,
)

pytestmark = pytest.mark.django_db

HALF = LIMIT // 2


@pytest.fixture
def designer(editor):
    """Offers b, a and c in this order; a and c are known in full."""
    send(editor, greet("b", "a", "c"), transfer(document("c")), transfer(document("a")))


def ask(client, query="", **members) -> list[str]:
    """Who answers a broadcast, besides AgentLens itself."""
    senders = {sender_of(each) for each in send(client, whois(query, **members))}
    return sorted(senders - {"agentlens"})


def test_a_known_peer_answers_when_it_is_asked_whatever_the_query(designer, viewer):
    said = whois("nothing like it", to="designer")
    (answer,) = send(viewer, said)

    assert (answer["from"], answer["to"]) == ("designer", "ops")
    assert (answer["kind"], answer["channel"]) == ("whois", "builders")
    assert answer["reply_to"] == said["id"]
    assert answer["body"] == {"type": "response", "peer_card": card("b", "a", "c")}


@pytest.mark.parametrize("status", [Status.OFFLINE, Status.DEPRECATED])
def test_a_peer_that_is_away_is_still_known_to_whom_asks_for_it(
    designer, viewer, status
):
    CatalogEntry.objects.update(status=status)

    assert len(send(viewer, whois(to="designer"))) == 1


def test_a_peer_of_another_channel_is_not_the_target(designer, viewer):
    said = whois(to="designer", channel="testers")

    refused(viewer, said, 404, "PEER_NOT_FOUND", "not_target")


def test_agentlens_answers_for_itself_in_every_channel(viewer):
    said = whois(to="agentlens", channel="anywhere", ext=rich())
    (answer,) = send(viewer, said)

    assert answer["body"]["peer_card"]["peer_id"] == "agentlens"
    assert answer["body"]["peer_card"]["capabilities"] == []
    assert BRIEF_KEY not in answer["body"]["peer_card"].get("ext", {})
    assert catalog_of(answer) == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "designer",
        "Designer",
        " build-site\n",
        "agh-network/v0",
        "capability",
        "unverified",
    ],
)
def test_a_broadcast_is_answered_by_whom_it_names_exactly(editor, query):
    send(editor, greet("build-site"))

    assert ask(editor, query) == ["designer"]


@pytest.mark.parametrize(
    "query", ["design", "DESIGNER", "build", "Build-Site", "Does build-site.", "*", "%"]
)
def test_a_broadcast_that_names_nobody_exactly_meets_silence(editor, query):
    send(editor, greet("build-site"))

    assert send(editor, whois(query)) == []


def test_a_broadcast_without_a_query_is_answered_by_agentlens_too(viewer):
    (answer,) = send(viewer, whois())

    assert sender_of(answer) == "agentlens"


def test_a_missing_query_asks_for_everybody(editor):
    send(editor, greet())

    assert ask(editor, body={"type": "request"}) == ["designer"]


def test_whoever_asks_does_not_answer(editor):
    send(editor, greet(sender="ops"), greet(sender="designer"))

    assert ask(editor) == ["designer"]


def test_other_channels_do_not_answer(editor):
    send(editor, greet(channel="builders2"), greet(sender="coder"))

    assert ask(editor) == ["coder"]


@pytest.mark.parametrize("status", [Status.OFFLINE, Status.DEPRECATED])
def test_those_away_do_not_answer_a_broadcast(editor, status):
    send(editor, greet(), greet(sender="coder"))
    CatalogEntry.objects.filter(pk=entry_of().pk).update(status=status)

    assert ask(editor) == ["coder"]


def test_a_degraded_peer_answers_still(editor):
    send(editor, greet())
    CatalogEntry.objects.update(status=Status.DEGRADED)

    assert ask(editor) == ["designer"]


def test_answering_many_peers_takes_no_more_queries_than_answering_few(editor):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            send(editor, whois(ext=rich()))
        return len(captured)

    send(editor, greet("a"), transfer(document("a")))
    few = queries()
    for n in range(5):
        peer = f"peer-{n}"
        send(editor, greet("a", sender=peer), transfer(document("a"), sender=peer))

    assert queries() == few


def test_full_documents_are_only_told_on_request(designer, viewer):
    (brief,) = send(viewer, whois(to="designer"))
    (full,) = send(viewer, whois(to="designer", ext=rich()))

    assert CATALOG_KEY not in brief.get("ext", {})
    assert brief["body"] == full["body"]


def test_only_what_is_known_in_full_is_told_in_catalog_order(designer, viewer):
    (answer,) = send(viewer, whois(to="designer", ext=rich()))

    assert catalog_of(answer) == [document("a"), document("c")]
    assert set(answer["ext"]) == {CATALOG_KEY}


def test_a_filter_keeps_the_order_and_the_whole_card(designer, viewer):
    ext = rich("c", " a ", "unknown")
    (answer,) = send(viewer, whois(to="designer", ext=ext))

    assert ids_of(answer) == ["a", "c"]
    assert answer["body"]["peer_card"]["capabilities"] == ["b", "a", "c"]


def test_a_broadcast_is_filtered_for_every_peer(designer, editor):
    send(editor, greet("x", sender="coder"), transfer(document("x"), sender="coder"))
    told = {sender_of(a): ids_of(a) for a in send(editor, whois(ext=rich("c")))}

    assert told == {"designer": ["c"], "coder": [], "agentlens": []}


@pytest.mark.parametrize(
    "ids",
    [["unknown"], ["b"], [], [" "], None, "a", [1], {}, ["a", 1]],
    ids=json.dumps,
)
def test_a_filter_that_lets_nothing_through_leaves_an_empty_list(designer, viewer, ids):
    ext = rich() | {"agh.capability_ids": ids}
    (answer,) = send(viewer, whois(to="designer", ext=ext))

    assert answer["ext"] == {CATALOG_KEY: {"capabilities": []}}


def test_a_peer_known_only_briefly_or_without_a_catalog_tells_an_empty_list(editor):
    send(editor, greet("build-site"), greet(sender="plain"))

    for answer in send(editor, whois(ext=rich())):
        assert catalog_of(answer) == []


@pytest.mark.parametrize(
    "include",
    [[], ["other"], None, "capability_catalog", {}, ["capability_catalog", 1], 7],
    ids=json.dumps,
)
def test_an_include_that_does_not_say_so_is_no_request(designer, viewer, include):
    ext = {"agh.include": include, "agh.capability_ids": ["a"]}
    (answer,) = send(viewer, whois(to="designer", ext=ext))

    assert CATALOG_KEY not in answer.get("ext", {})


def test_unknown_words_in_an_include_are_passed_over(designer, viewer):
    ext = {"agh.include": ["pricing", " capability_catalog "]}
    (answer,) = send(viewer, whois(to="designer", ext=ext))

    assert ids_of(answer) == ["a", "c"]


def test_a_workspace_is_echoed_and_never_invented(designer, viewer):
    (named,) = send(viewer, whois(to="designer", workspace_id="ws_1"))
    (unnamed,) = send(viewer, whois(to="designer"))

    assert named["workspace_id"] == "ws_1"
    assert "workspace_id" not in unnamed


def offer(client, *sizes, sender="designer"):
    """A peer with documents of about so many bytes."""
    told = [document(f"big-{n}", notes="x" * size) for n, size in enumerate(sizes)]
    send(client, greet(*(each["id"] for each in told), sender=sender))
    send(client, *(transfer(each, sender=sender) for each in told))


def test_an_answer_over_the_limit_is_an_error_to_whom_asked_for_it(editor):
    offer(editor, HALF, HALF)

    said = whois(to="designer", ext=rich())
    body = refused(editor, said, 413, "BODY_TOO_LARGE", "internal")
    assert "its answer has" in body["error"]
    assert "ask for fewer capabilities" in body["error"]
    (answer,) = send(editor, whois(to="designer", ext=rich("big-1")))
    assert ids_of(answer) == ["big-1"]


def test_an_answer_over_the_limit_is_silence_in_a_broadcast(editor):
    offer(editor, HALF, HALF)
    offer(editor, 10, sender="coder")

    assert ask(editor, ext=rich()) == ["coder"]
    assert ask(editor) == ["coder", "designer"]


def test_an_answer_of_just_the_limit_is_given(editor):
    offer(editor, HALF, 10)
    said = whois(to="designer", ext=rich())
    room = LIMIT - len(compact(send(editor, said)[0]))
    grown = document("big-1", notes="x" * (10 + room))
    send(editor, transfer(grown))

    (answer,) = send(editor, whois(to="designer", ext=rich()))
    assert len(compact(answer)) == LIMIT
    send(editor, transfer(document("big-1", notes="x" * (11 + room))))
    assert post(editor, whois(to="designer", ext=rich())).status_code == 413


def compact(said: dict) -> bytes:
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()


def test_an_answer_that_somebody_gave_is_read_like_a_greet_and_transfers(editor):
    told = document("a", acme={"x": 1})
    assert send(editor, response(card("a", "b"), told)) == []

    assert entry_of().status == Status.ACTIVE
    assert capabilities()["a"]["document"] == told
    assert capabilities()["a"]["verified"]
    assert known_in_full() == {"a"}


def test_an_answer_of_a_known_peer_completes_what_is_known(editor):
    send(editor, greet("a", "b"), response(card("a", "b"), document("b")))

    assert known_in_full() == {"b"}
    assert set(capabilities()) == {"a", "b"}


def test_of_a_catalog_with_a_false_digest_nothing_is_believed(editor):
    send(editor, greet("a", "b"), transfer(document("a", version="1")))
    told = [document("a", version="2", digest=FALSE_DIGEST), document("b")]
    said = response(card("a", "b"), *told)
    refused(editor, said, 422, "VERIFICATION_FAILED", "verification_failed")

    assert known_in_full() == {"a"}
    assert capabilities()["a"]["document"]["version"] == "1"


@pytest.mark.parametrize(
    "catalog",
    [None, [], {}, {"capabilities": None}, {"capabilities": [1, {}]}],
    ids=json.dumps,
)
def test_a_malformed_catalog_is_refused_with_its_envelope(editor, catalog):
    path = malformed_error(editor, response(card("a"), ext={CATALOG_KEY: catalog}))

    assert path.startswith(f"$.ext['{CATALOG_KEY}']")
    assert not CatalogEntry.objects.exists()


def test_a_filtered_catalog_wipes_no_other_document(designer, editor):
    send(editor, response(card("b", "a", "c"), document("b")))

    assert known_in_full() == {"a", "b", "c"}


def test_a_filtered_catalog_with_a_narrowed_card_wipes_nothing(designer, editor):
    """AGH's own runtime narrows the card together with the catalog."""
    narrowed = card("a", display_name="New name")
    send(editor, response(narrowed, document("a")))

    assert set(capabilities()) == {"a", "b", "c"}
    (answer,) = send(editor, whois(to="designer"))
    told = answer["body"]["peer_card"]
    assert told["capabilities"] == ["b", "a", "c"]
    assert [brief["id"] for brief in told["ext"][BRIEF_KEY]] == ["b", "a", "c"]
    assert told["display_name"] == "New name"


def test_an_empty_filtered_catalog_wipes_nothing(designer, editor):
    send(editor, response(card()))

    assert known_in_full() == {"a", "c"}
    assert set(capabilities()) == {"a", "b", "c"}


def test_a_document_without_a_digest_replaces_none_that_proved_itself(editor):
    send(editor, greet("a"), transfer(document("a"), ext={"acme.x": 1}))
    other = document("a", outcome="Something else.")
    del other["digest"]
    send(editor, response(card("a"), other))

    assert capabilities()["a"]["document"]["outcome"] == "a is done."
    assert capabilities()["a"]["verified"]


def test_what_a_transfer_verified_is_not_lost_to_a_catalog_without_digests(editor):
    send(editor, greet("a"), transfer(document("a"), ext={"acme.x": 1}))
    bare = document("a")
    del bare["digest"]
    send(editor, response(card("a"), bare))

    assert capabilities()["a"]["verified"]
    envelope = editor.get(f"{PEERS}/designer/capabilities/a").json()
    assert envelope["ext"] == {"acme.x": 1}


def test_a_display_name_is_matched_as_it_is_written(editor):
    send(editor, greet_with(card(display_name="Site builder, 2nd")))

    assert ask(editor, "Site builder, 2nd") == ["designer"]
    assert ask(editor, "site builder, 2nd") == []
