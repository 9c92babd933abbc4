"""Peers as they can be read again: their cards, and transfers of what they offer."""

import json
from urllib.parse import quote

import pytest

from catalog.models import CatalogEntry, DefinitionChange, Source, Status
from tests.api_errors import assert_error_response

from .agh import (
    BRIEF_KEY,
    CATALOG_KEY,
    LIMIT,
    PEERS,
    capabilities,
    card,
    catalog_of,
    document,
    entry_of,
    envelope,
    greet,
    greet_with,
    known_in_full,
    response,
    rich,
    send,
    transfer,
    whois,
)

pytestmark = pytest.mark.django_db

AWKWARD = [
    "code/patch",
    "a//b",
    "Build the site",
    "100%",
    "100%25",
    "%2F",
    "a?b#c",
    "a+b&c=d",
    "日本語 🦜",
    "שלום",
    "code.patch",
    ".",
    "..",
    "a/../b",
    "two\nlines",
    "<b>'\"",
]


def compact(said: dict) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode()


def place(capability_id: str, peer_id="designer") -> str:
    return f"{PEERS}/{peer_id}/capabilities/{quote(capability_id, safe='')}"


def fetch(client, capability_id: str, **parameters) -> dict:
    answer = client.get(place(capability_id), parameters)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_a_greet_makes_an_entry_that_lives(editor):
    assert send(editor, greet("build-site")) == []

    entry = CatalogEntry.objects.get()
    assert entry.agent_type.protocol == "agh"
    assert entry.agent_type.endpoint == "agh://builders/designer"
    assert entry.agent_type.spec_version == "agh-network/v0"
    assert (entry.source, entry.status) == (Source.PUSH, Status.ACTIVE)
    assert entry.display_name == "Designer"


def test_what_a_peer_greets_with_is_found_at_once(editor, viewer):
    send(editor, greet("build-site", "review-copy"))

    (found,) = viewer.get("/api/v1/capabilities?q=review-copy").json()["items"]
    assert (found["name"], found["kind"]) == ("review-copy", "agh.capability")
    assert (found["agent_name"], found["status"]) == ("Designer", "active")


def test_a_peer_without_a_name_is_called_by_its_id(editor):
    send(editor, greet_with(card(display_name=" ")))

    assert entry_of().display_name == "designer"


def test_greeting_again_is_the_same_entry_seen_later(editor):
    send(editor, greet("build-site"))
    before = entry_of()
    send(editor, greet("build-site"))

    after = entry_of()
    assert (after.pk, after.agent_type_id) == (before.pk, before.agent_type_id)
    assert after.validity_last_seen > before.validity_last_seen
    assert not DefinitionChange.objects.exists()


def test_a_new_card_is_the_one_that_is_told(editor):
    changed = card("review-copy", display_name="Editor", profiles_supported=[])
    send(editor, greet("build-site"), greet_with(changed))

    assert editor.get(f"{PEERS}/designer").json() == changed
    assert entry_of().display_name == "Editor"
    change = DefinitionChange.objects.get()
    assert change.removed == [{"kind": "agh.capability", "name": "build-site"}]


def test_a_deprecated_peer_stays_so_however_often_it_greets(editor):
    send(editor, greet())
    CatalogEntry.objects.update(status=Status.DEPRECATED)
    send(editor, greet())

    assert entry_of().status == Status.DEPRECATED


def test_no_list_of_a_card_is_ever_null(editor):
    lists = ("profiles_supported", "artifacts_supported", "trust_modes_supported")
    empty = card(display_name=None, **{key: [] for key in lists})
    send(editor, greet_with(empty))
    (answer,) = send(editor, whois(to="designer"))

    for told in (answer["body"]["peer_card"], editor.get(f"{PEERS}/designer").json()):
        assert told == {
            "peer_id": "designer",
            "profiles_supported": [],
            "capabilities": [],
            "artifacts_supported": [],
            "trust_modes_supported": [],
        }


def test_a_card_keeps_what_we_do_not_know_and_hides_no_catalog(editor):
    ext = {"acme.rates": [1, 2.5, None], CATALOG_KEY: {"capabilities": [document()]}}
    stated = card("a", ext=card("a")["ext"] | ext, future={"x": [1]})
    send(editor, greet_with(stated))

    told = editor.get(f"{PEERS}/designer").json()
    del stated["ext"][CATALOG_KEY]
    assert told == stated


def test_a_brief_that_does_not_match_is_advice_and_no_more(editor):
    odd = [{"id": "other", "summary": "?"}, 7, {"id": "a"}]
    send(editor, greet_with(card("a", "b", ext={BRIEF_KEY: odd})))

    assert set(capabilities()) == {"a", "b"}


def test_the_card_of_agentlens_itself(viewer):
    told = viewer.get(f"{PEERS}/agentlens").json()

    assert told == {
        "peer_id": "agentlens",
        "display_name": "AgentLens",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": [],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
    }
    answer = viewer.get(place("x", "agentlens"))
    assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")


def test_a_peer_is_told_of_the_channel_asked_for_or_of_its_latest_greet(editor):
    send(editor, greet_with(card(display_name="Old"), channel="older"))
    send(editor, greet_with(card(display_name="New"), channel="newer"))

    def name(query=""):
        return editor.get(f"{PEERS}/designer{query}").json()["display_name"]

    assert (name(), name("?channel=older"), name("?channel=newer")) == (
        "New",
        "Old",
        "New",
    )
    send(editor, greet_with(card(display_name="Old"), channel="older"))
    assert name() == "Old"


def test_a_document_is_told_of_the_channel_asked_for(editor):
    for channel, version in (("older", "1"), ("newer", "2")):
        send(editor, greet("a", channel=channel))
        send(editor, transfer(document("a", version=version), channel=channel))

    told = fetch(editor, "a", channel="older")
    assert told["body"]["capability"]["version"] == "1"
    assert told["channel"] == "older"
    assert fetch(editor, "a")["channel"] == "newer"


@pytest.mark.parametrize(
    "path",
    [
        "nobody",
        "designer?channel=elsewhere",
        "DESIGNER",
        "esigner",
        "design%25",
        "d" * 300,
        "%F0%9F%A6%9C",
    ],
)
def test_a_peer_nobody_knows_is_not_found(editor, path):
    send(editor, greet())

    assert_error_response(editor.get(f"{PEERS}/{path}"), 404, "PEER_NOT_FOUND")


@pytest.mark.parametrize("channel", ["%00", "BAD", "a/b", "x" * 65])
def test_a_channel_that_can_be_none_is_a_bad_parameter(editor, channel):
    answer = editor.get(f"{PEERS}/designer?channel={channel}")

    assert_error_response(answer, 400, "INVALID_PARAMETER")


def test_an_agent_of_another_protocol_is_no_peer(editor):
    document = {"name": "designer", "capabilities": ["x"]}
    editor.post("/api/v1/catalog/register", document, format="json")

    assert_error_response(editor.get(f"{PEERS}/designer"), 404, "PEER_NOT_FOUND")


def test_a_document_is_kept_word_for_word(editor):
    told = document(
        " build-site ",
        context_needed=["  repo ", "", "brand brief"],
        requirements=["z", "a"],
        constraints=[],
        acme={"deep": [1, 2.5, None, {"x": "é"}]},
    )
    send(editor, greet("build-site"), transfer(told))

    kept = capabilities()["build-site"]
    assert kept["document"] == told
    assert (kept["digest"], kept["verified"]) == (told["digest"], True)


def test_the_first_thing_heard_of_a_peer_may_be_a_transfer(editor):
    send(editor, transfer(document()))

    assert known_in_full() == {"build-site"}
    told = editor.get(f"{PEERS}/designer").json()
    assert told["capabilities"] == ["build-site"]
    assert fetch(editor, "build-site")["body"] == {"capability": document()}


def test_a_transfer_and_a_rich_answer_agree(editor):
    told = document(version="1.0.0", examples=["One"], acme=1)
    send(editor, greet("build-site"), transfer(told))
    (answer,) = send(editor, whois(to="designer", ext=rich()))

    handed = fetch(editor, "build-site")["body"]["capability"]
    (listed,) = catalog_of(answer)
    for key in ("id", "summary", "outcome", "digest"):
        assert handed[key] == listed[key] == told[key]
    assert handed == listed == told


def test_a_transfer_is_an_envelope_that_others_take(editor):
    send(editor, greet("a"), transfer(document("a"), ext={"acme.x": 1}, later=[1]))
    handed = fetch(editor, "a")

    assert (handed["kind"], handed["from"]) == ("capability", "designer")
    assert (handed["channel"], handed["to"], handed["proof"]) == (
        "builders",
        None,
        None,
    )
    send(editor, handed | {"channel": "elsewhere"})
    assert known_in_full(channel="elsewhere") == {"a"}


def test_what_came_along_with_a_document_goes_along_with_it(editor):
    along = {"ext": {"acme.x": {"y": [1, None]}, "agh.later": "é"}, "hops": [1, {}]}
    told = document("a", acme={"n": 1.5}, digest_note="x")
    send(editor, greet("a"), transfer(told, **along))
    handed = fetch(editor, "a")

    assert {key: handed[key] for key in along} == along
    assert handed["body"] == {"capability": told}


def test_what_came_along_survives_later_greets(editor):
    send(editor, greet("a"), transfer(document("a"), ext={"acme.x": 1}))
    send(editor, greet("a"), greet("a", "b"), greet())

    assert fetch(editor, "a")["ext"] == {"acme.x": 1}


def test_a_transfer_is_never_larger_than_an_envelope_may_be(editor):
    """Ours has an id of its own, longer than the one that came."""
    said = transfer(document("a"), id="m", padding="")
    send(editor, greet("a"))
    said["padding"] = "x" * (LIMIT - len(compact(said)))
    send(editor, compact(said))
    answer = editor.get(place("a"))

    body = assert_error_response(answer, 413, "BODY_TOO_LARGE")
    assert body["details"]["reason_code"] == "internal"
    assert "its transfer has" in body["error"]


def test_order_and_numbers_are_kept_whatever_the_database(editor):
    """Some keep objects in an order of their own, and numbers in another form."""
    odd = {"z": 1, "a": {"y": [1e308, -0.0, 1.5e-7, 10**18], "b": None}, "m": []}
    told = document("a", zeta=odd, alpha=odd)
    said = transfer(told, ext={"z.z": odd, "a.a": odd}, zzz=odd, aaa=odd)
    send(editor, greet("a"), said)
    again = editor.get(place("a")).content.decode()
    read = json.loads(again)

    assert json.dumps(read["ext"]) == json.dumps(said["ext"])
    for key in ("zzz", "aaa"):
        assert json.dumps(read[key]) == json.dumps(odd)
    assert [key for key in read if key in ("zzz", "aaa")] == ["zzz", "aaa"]
    handed = read["body"]["capability"]
    assert json.dumps([handed["zeta"], handed["alpha"]]) == json.dumps([odd, odd])
    assert [key for key in handed if key in ("zeta", "alpha")] == ["zeta", "alpha"]


def test_a_new_document_replaces_the_old_one(editor):
    send(editor, greet("a"), transfer(document("a", version="1")))
    send(editor, transfer(document("a", version="2")))

    assert fetch(editor, "a")["body"]["capability"]["version"] == "2"
    assert set(capabilities()) == {"a"}


def test_the_same_transfer_twice_changes_nothing(editor):
    send(editor, greet("a"), transfer(document("a")))
    changes = DefinitionChange.objects.count()
    send(editor, transfer(document("a")))

    assert DefinitionChange.objects.count() == changes


@pytest.mark.parametrize("capability_id", ["review-copy", "nothing", "x" * 600])
def test_what_is_only_briefly_known_cannot_be_handed_over(editor, capability_id):
    send(editor, greet("build-site", "review-copy"), transfer(document()))

    answer = editor.get(place(capability_id))
    assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")


def test_a_transfer_of_an_unknown_peer_is_of_no_peer(editor):
    assert_error_response(editor.get(place("a", "nobody")), 404, "PEER_NOT_FOUND")


@pytest.mark.parametrize("capability_id", AWKWARD, ids=ascii)
def test_a_capability_may_be_called_anything(editor, capability_id):
    told = document(capability_id)
    send(editor, greet(capability_id), transfer(told))
    (answer,) = send(editor, whois(capability_id, ext=rich(capability_id)))

    assert catalog_of(answer) == [told]
    assert fetch(editor, capability_id)["body"]["capability"] == told


def test_a_card_registered_at_the_other_door_wipes_no_document(editor):
    send(editor, greet("a"), transfer(document("a")))
    changed = card("a", "b", channel="builders")
    answer = editor.post("/api/v1/catalog/register", changed, format="json")

    assert answer.json()["outcome"] == "updated"
    assert known_in_full() == {"a"}
    assert set(capabilities()) == {"a", "b"}


def test_talk_about_a_peer_does_not_make_it_one(editor):
    send(editor, envelope("say", {"text": "hello"}))

    assert_error_response(editor.get(f"{PEERS}/designer"), 404, "PEER_NOT_FOUND")


def test_an_answer_without_a_catalog_is_read_like_a_greet(editor):
    said = response(card("b"))
    del said["ext"]
    send(editor, greet("a"), said)

    assert set(capabilities()) == {"b"}
