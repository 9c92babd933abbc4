"""Peers over time: what is merged, what is never lost, and how long they live."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import async_to_sync
from django.db import connections

from capabilities.protocols.agh import members, merging
from capabilities.protocols.agh.catalogs import CatalogRequest
from capabilities.protocols.agh.envelopes import Envelope
from capabilities.protocols.agh.errors import (
    EnvelopeError,
    EnvelopeTooLarge,
    ReasonCode,
)
from catalog.health.scheduler import Prober
from catalog.ingestion import definition as definition_module
from catalog.integrations.agh import inbox as taking
from catalog.integrations.agh import responder as answering
from catalog.integrations.agh.directory import find_peer, iter_peers_with_documents
from catalog.integrations.agh.inbox import process_envelope
from catalog.integrations.agh.local_files import import_directory
from catalog.integrations.agh.models import SeenEnvelope
from catalog.models import CatalogEntry, Source, Status
from catalog.registration.export import export_lines, import_line
from tests.catalog.integrations.agh.agh import (
    BRIEF_KEY,
    FALSE_DIGEST,
    PEERS,
    capabilities,
    card,
    document,
    entry_of,
    envelope,
    greet,
    greet_with,
    ids_of,
    known_in_full,
    response,
    rich,
    send,
    transfer,
    whois,
)
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


def hear(*all_said: dict) -> None:
    for said in all_said:
        process_envelope(Envelope.parse(said, int(time.time())))


def heard_in_thread(said: dict) -> None:
    try:
        hear(said)
    finally:
        connections.close_all()


def hear_together(all_said: list[dict]) -> None:
    with ThreadPoolExecutor(len(all_said)) as pool:
        list(pool.map(heard_in_thread, all_said))


def documents(peer) -> list[str]:
    """The ids of what is known in full of a peer, as it is told."""
    found = iter_peers_with_documents([peer], CatalogRequest(include_documents=True))
    return [each.id for _, told in found for each in told]


def write(folder, *documents) -> None:
    """A local catalog, as its author writes it: without digests."""
    folder.mkdir(exist_ok=True)
    told = [{key: d[key] for key in d if key != "digest"} for d in documents]
    (folder / "capabilities.json").write_text(json.dumps({"capabilities": told}))


def test_a_greet_that_names_a_whole_document_keeps_it():
    hear(greet("a"), transfer(document("a")), greet("a"))

    assert capabilities()["a"]["document"] == document("a")


def test_a_greet_with_another_card_keeps_whole_documents():
    changed = card("a", "b", display_name="Other", ext={})
    hear(greet("a"), transfer(document("a")), greet_with(changed))

    assert set(capabilities()) == {"a", "b"}
    assert known_in_full() == {"a"}


def test_a_greet_that_drops_the_id_keeps_the_whole_document():
    hear(greet("a", "b"), transfer(document("a")), greet("b"), greet())

    assert known_in_full() == {"a"}
    assert documents(find_peer("designer")) == ["a"]


def test_a_brief_that_disappears_is_gone():
    hear(greet("a", "b"), greet("b"))

    assert set(capabilities()) == {"b"}


def test_a_summary_follows_the_brief_while_only_that_is_known():
    ext = {"agh.capabilities_brief": [{"id": "a", "summary": "New words."}]}
    hear(greet("a"), greet_with(card("a", ext=ext)))

    row = entry_of().agent_type.capabilities.get()
    assert row.description == "New words."


def test_documents_of_one_peer_are_no_others():
    hear(greet("a"), greet("a", sender="coder"), transfer(document("a")))
    hear(greet("a", channel="testers"))

    assert known_in_full() == {"a"}
    assert known_in_full("coder") == known_in_full(channel="testers") == set()


def test_transfers_of_one_who_never_greeted_are_all_kept():
    hear(transfer(document("a")), transfer(document("b")), greet("b"))

    assert known_in_full() == {"a", "b"}


@pytest.mark.django_db(transaction=True)
def test_twenty_greets_and_transfers_at_once_lose_nothing():
    hear(greet("brief"))
    ids = [f"id-{n}" for n in range(20)]
    hear_together(
        [transfer(document(each)) for each in ids]
        + [greet(*ids[: n + 1], "brief") for n in range(20)]
    )

    assert CatalogEntry.objects.count() == 1
    assert known_in_full() == set(ids)
    assert "brief" in capabilities()


@pytest.mark.django_db(transaction=True)
def test_a_first_greet_and_first_transfers_at_once_lose_nothing():
    ids = [f"id-{n}" for n in range(10)]
    told = [transfer(document(each)) for each in ids]
    hear_together([*told, *(greet("brief") for _ in range(10))])

    assert CatalogEntry.objects.count() == 1
    assert known_in_full() == set(ids)


@pytest.mark.django_db(transaction=True)
def test_a_transfer_never_brings_an_older_card_back():
    """Whoever reads the card before the greet must not write it after."""
    for n in range(6):
        hear(greet("old"))
        new = greet_with(card("new", display_name=f"New {n}"))
        hear_together([new, *(transfer(document(f"id-{i}")) for i in range(8))])

        assert find_peer("designer").card.display_name == f"New {n}"
        assert find_peer("designer").card.capabilities[0] == "new"


@pytest.mark.django_db(transaction=True)
def test_a_first_transfer_never_replaces_a_greeted_card():
    for n in range(6):
        peer = f"peer-{n}"
        told = [transfer(document(f"id-{i}"), sender=peer) for i in range(8)]
        hear_together([*told[:4], greet("brief", sender=peer), *told[4:]])

        assert find_peer(peer).card.capabilities[0] == "brief"


@pytest.mark.django_db(transaction=True)
def test_of_twenty_equal_envelopes_at_once_one_is_taken():
    said = greet("a")

    def taken(_) -> bool:
        try:
            heard_in_thread(said)
        except EnvelopeError as refused:
            return refused.reason_code != ReasonCode.DUPLICATE
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(taken, range(20))) == 1


@pytest.mark.django_db(transaction=True)
def test_a_catalog_read_from_files_is_declared_and_never_probed(tmp_path):
    write(tmp_path / "designer", document("a"))
    entry = import_directory(tmp_path / "designer").entry
    async_to_sync(Prober().probe_all_due)()

    entry.refresh_from_db()
    assert entry.agent_type.endpoint == "agh:designer"
    assert (entry.status, entry.source) == (Status.ACTIVE, Source.CONFIG)
    assert (entry.next_probe_at, entry.last_probed_at) == (None, None)
    assert entry.declared


def test_a_catalog_read_from_files_is_known_in_full_but_unverified(tmp_path):
    write(tmp_path / "designer", document("b"), document("a"))
    import_directory(tmp_path / "designer")

    told = capabilities(channel="")["a"]
    assert told["digest"] == document("a")["digest"]
    assert not told.get("verified")
    peer = find_peer("designer")
    assert peer.card.capabilities == ("b", "a")
    assert documents(peer) == ["b", "a"]


def test_a_peer_of_files_that_greets_is_one_peer_with_all_that_is_known(
    tmp_path, editor
):
    write(tmp_path / "designer", document("a"), document("b"))
    import_directory(tmp_path / "designer")
    newer = document("b", summary="Does it better.")
    hear(greet("b", "c"), transfer(newer))

    peer = find_peer("designer", "builders")
    assert peer.card.capabilities == ("b", "c", "a")
    assert documents(peer) == documents(find_peer("designer")) == ["b", "a"]
    for asked in ("", "a", "c"):
        told = send(editor, whois(asked, ext=rich()))
        senders = [said["from"] for said in told if said["from"] != "agentlens"]
        assert senders == ["designer"]
        assert ids_of(told[0]) == ["b", "a"]
    assert fetched(editor, "b")["summary"] == "Does it better."
    assert fetched(editor, "a")["summary"] == document("a")["summary"]


def fetched(client, name) -> dict:
    place = f"{PEERS}/designer/capabilities/{name}"
    return client.get(place).json()["body"]["capability"]


def test_more_than_could_ever_be_told_of_a_peer_is_not_kept(monkeypatch):
    monkeypatch.setattr(taking, "PEER_DOCUMENTS_LIMIT", 3000)
    hear(greet("a"), *(transfer(document(n, outcome="x" * 1000)) for n in "ab"))
    with pytest.raises(EnvelopeTooLarge):
        hear(transfer(document("c", outcome="x" * 1000)))

    # One that takes the place of another is no more than before.
    hear(transfer(document("b", outcome="y" * 1000)))
    assert known_in_full() == {"a", "b"}


def test_where_there_is_no_room_for_all_a_peer_s_own_word_counts(monkeypatch):
    for module in (merging, definition_module):
        monkeypatch.setattr(module, "CAPABILITY_LIMIT", 3)
    hear(transfer(document("a")), transfer(document("b")), greet("c", "d"))

    assert set(capabilities()) == {"c", "d", "a"}


def test_a_member_of_a_card_that_we_keep_for_ourselves_is_refused():
    with pytest.raises(EnvelopeError, match=r"peer_card\.channel"):
        hear(greet_with(card("a", channel="elsewhere")))


def test_who_asked_for_too_much_may_ask_the_same_again(monkeypatch):
    hear(greet("a"), transfer(document("a", outcome="x" * 1000)))
    asked = whois("a", to="designer", ext=rich())
    with monkeypatch.context() as patched:
        patched.setattr(members, "ENVELOPE_BYTES_LIMIT", 1000)
        with pytest.raises(EnvelopeTooLarge):
            hear(asked)
    hear(asked)


def test_questions_are_remembered_no_longer_than_they_could_come_again():
    ahead = int(time.time()) + 10 * 24 * 3600
    hear(greet("a"), whois("a", expires_at=ahead), greet("a", expires_at=ahead))
    until = [one.until.timestamp() for one in SeenEnvelope.objects.order_by("until")]

    assert until[1] < time.time() + 400
    assert until[2] == ahead


def test_what_was_taken_out_of_the_files_is_gone_with_the_next_import(tmp_path):
    write(tmp_path / "designer", document("a"), document("b"))
    import_directory(tmp_path / "designer")
    write(tmp_path / "designer", document("b"))
    import_directory(tmp_path / "designer")

    assert set(capabilities(channel="")) == {"b"}


def test_a_peer_in_a_channel_called_local_does_not_live_for_ever():
    """Catalogs read from files are declared; whoever greets is not."""
    hear(greet("a", channel="local"))

    assert not CatalogEntry.objects.get().declared


@pytest.fixture
def page(client):
    """The page of the designer, as a viewer sees it."""

    def read(channel="builders") -> str:
        client.force_login(UserFactory(role="Viewer"))
        return client.get(f"/catalog/{entry_of(channel=channel).pk}").content.decode()

    return read


def test_the_page_of_a_peer_shows_the_whole_document(page):
    told = document(
        "a",
        version="1.2.3",
        context_needed=["The repository"],
        execution_outline=["Inspect it", "Build it"],
        constraints=["No mocks"],
        examples=[],
    )
    hear(greet("a"), transfer(told))
    text = page()

    for shown in ("a is done.", "1.2.3", "The repository", "Build it", "No mocks"):
        assert shown in text
    for label in ("Outcome", "Context needed", "Execution outline", "Constraints"):
        assert f"<dt>{label}</dt>" in text
    assert "<dt>Examples</dt>" not in text
    assert told["digest"] in text
    assert "Verified" in text


def test_the_page_says_when_nobody_vouched_for_the_digest(page, tmp_path):
    write(tmp_path / "designer", document("a"))
    import_directory(tmp_path / "designer")
    text = page("")

    assert "Verified" not in text
    assert "Digest not given" in text
    assert document("a")["digest"] in text


def test_the_page_of_a_brief_shows_no_document(page):
    hear(greet("a"))
    text = page()

    assert "Does a." in text
    assert "The whole document" not in text


def test_nothing_a_document_says_is_markup(page):
    told = document(
        HOSTILE,
        summary=HOSTILE,
        outcome=HOSTILE,
        version=HOSTILE,
        context_needed=[HOSTILE],
        constraints=[HOSTILE],
        unknown={HOSTILE: HOSTILE},
    )
    stated = card(HOSTILE, display_name=HOSTILE, ext={HOSTILE: HOSTILE})
    hear(greet_with(stated), transfer(told, ext={HOSTILE: HOSTILE}))
    text = page()

    assert HOSTILE not in text
    assert text.count("&lt;script&gt;alert(1)") >= 5


@pytest.mark.parametrize(
    "odd",
    [{"constraints": None}, {"examples": ["", " "]}, {"version": " 1 "}],
    ids=json.dumps,
)
def test_the_page_takes_documents_as_they_come(page, odd):
    hear(greet("a"), transfer(document("a", **odd)))
    text = page()

    assert "a is done." in text
    assert '<li dir="auto"></li>' not in text
    assert "<dt>Examples</dt>" not in text


def test_the_index_of_capabilities_lists_what_peers_offer(client):
    hear(greet("a"), transfer(document("a")))
    client.force_login(UserFactory(role="Viewer"))
    text = client.get("/catalog/capabilities").content.decode()

    assert "AGH Capability" in text
    assert "Does a." in text


def test_a_refused_transfer_leaves_the_page_as_it_was(page):
    hear(greet("a"))
    with pytest.raises(EnvelopeError, match="digest"):
        hear(transfer(document("a", digest=FALSE_DIGEST)))

    assert "The whole document" not in page()


def test_the_page_of_one_that_is_only_heard_speaks_of_no_milliseconds(page):
    hear(greet("a"))
    told = page()

    assert "it was heard" in told
    assert "None ms" not in told
    assert 'class="latency"' not in told


def test_nobody_speaks_as_ourselves():
    with pytest.raises(EnvelopeError):
        hear(greet("a", sender="agentlens"))

    assert not CatalogEntry.objects.exists()


def ask(query="", **members) -> list[dict]:
    said = whois(query, **members)
    answers = process_envelope(Envelope.parse(said, int(time.time())))
    return sorted((each.raw for each in answers), key=lambda raw: raw["from"])


def who(query="", **members) -> list[str]:
    return [raw["from"] for raw in ask(query, **members) if raw["from"] != "agentlens"]


def test_what_only_a_transfer_brought_is_found_and_told_like_the_rest():
    hear(greet(), transfer(document("zz")))
    hear(transfer(document("a1"), sender="coder"), transfer(document("b1"), "coder"))

    assert who("zz") == ["designer"]
    assert who("b1") == ["coder"]
    (answer,) = ask(to="coder", ext=rich())
    told = answer["body"]["peer_card"]
    assert told["capabilities"] == ["a1", "b1"]
    assert [brief["id"] for brief in told["ext"][BRIEF_KEY]] == ["a1", "b1"]
    assert ids_of(answer) == ["a1", "b1"]


@pytest.mark.parametrize(
    "stated",
    [
        {"capabilities": [" b ", "", "a"]},
        {"capabilities": ["b", "a"], "ext": {}},
        {"capabilities": ["b", "a"], "ext": {BRIEF_KEY: [{"id": "a", "summary": 5}]}},
    ],
)
def test_a_brief_is_always_told_entry_by_entry(stated):
    hear(greet_with(card("x") | stated))
    (answer,) = ask(to="designer")
    told = answer["body"]["peer_card"]

    assert told["capabilities"] == ["b", "a"]
    assert [brief["id"] for brief in told["ext"][BRIEF_KEY]] == ["b", "a"]
    assert all(isinstance(brief["summary"], str) for brief in told["ext"][BRIEF_KEY])


def test_peers_of_files_are_asked_in_any_channel(tmp_path):
    write(tmp_path / "coder", document("a"))
    import_directory(tmp_path / "coder")

    assert who("a") == who("a", channel="elsewhere") == ["coder"]
    (answer,) = ask(to="coder", ext=rich(), channel="elsewhere")
    assert (ids_of(answer), answer["channel"]) == (["a"], "elsewhere")


@pytest.mark.parametrize(
    "said",
    [
        greet("a", to="nobody"),
        transfer(document("a"), to="nobody"),
        response(card("a"), document("a"), to="nobody"),
        envelope("say", {"text": "hello"}, to="nobody"),
    ],
    ids=["greet", "transfer", "response", "say"],
)
def test_what_is_for_somebody_we_do_not_know_is_not_for_us(said):
    said |= {"ts": int(time.time())}
    with pytest.raises(EnvelopeError) as refused:
        hear(said)

    assert refused.value.reason_code == ReasonCode.NOT_TARGET
    assert not CatalogEntry.objects.exists()


@pytest.mark.parametrize("to", ["agentlens", "coder"])
def test_what_is_for_us_or_for_one_we_know_is_taken(to):
    hear(greet("x", sender="coder"), transfer(document("a"), to=to))

    assert known_in_full() == {"a"}


def test_a_privilege_is_not_handed_over_unproven_nor_told_for_another():
    with pytest.raises(EnvelopeError) as refused:
        hear(transfer(document("task.write")))
    assert refused.value.reason_code == ReasonCode.VERIFICATION_FAILED

    proof = {"alg": "none"}
    hear(greet_with(card("a", "task.write"), proof=proof))
    hear(transfer(document("task.write"), proof=proof))
    (answer,) = ask(to="designer", ext=rich())
    assert answer["body"]["peer_card"]["capabilities"] == ["a"]
    assert ids_of(answer) == []
    assert answering.build_transfer(find_peer("designer"), "task.write") is None


def test_a_privilege_is_no_more_taken_out_of_a_catalog_unproven():
    said = response(card("a"), document("a"), document("task.write"))
    with pytest.raises(EnvelopeError) as refused:
        hear(said)
    assert refused.value.reason_code == ReasonCode.VERIFICATION_FAILED
    assert not CatalogEntry.objects.exists()

    hear(said | {"proof": {"alg": "none"}})
    assert known_in_full() == {"a", "task.write"}


@pytest.mark.parametrize("stray", [7, {"capabilities": [document("b")]}], ids=str)
def test_a_catalog_in_a_greet_is_none(stray):
    """It belongs to a whois; elsewhere it is one more key that nobody knows."""
    hear(greet("a", ext={"agh.capability_catalog": stray}))

    assert set(capabilities()) == {"a"}
    assert known_in_full() == set()


def test_a_greet_of_nearly_all_that_an_envelope_may_hold_is_taken():
    ids = [f"capability-{n:05}" for n in range(2000)]
    padding = {"acme.x": list(range(70_000))}
    hear(greet_with(card(*ids) | {"ext": padding}))

    assert len(capabilities()) == 2000


def test_greets_that_only_differ_in_words_leave_no_trail():
    for uptime in range(5):
        hear(greet_with(card("a", ext={"acme.uptime": uptime})))
    assert entry_of().changes.count() == 0
    assert json.loads(entry_of().agent_type.definition)["ext"] == {"acme.uptime": 4}

    hear(greet("a", "b"))
    assert entry_of().changes.count() == 1


def test_a_peer_that_takes_another_name_is_found_by_it(viewer):
    def found(query):
        return viewer.get(f"/api/v1/catalog?q={query}").json()["total"]

    hear(greet_with(card("a", display_name="Painter")))
    hear(greet_with(card("a", display_name="Sculptor")))

    assert (found("painter"), found("sculptor")) == (0, 1)
    assert entry_of().changes.count() == 1


def test_a_peer_has_so_many_capabilities_and_no_more(monkeypatch):
    monkeypatch.setattr(definition_module, "CAPABILITY_LIMIT", 3)
    hear(greet("a", "b"), transfer(document("c")))
    with pytest.raises(EnvelopeError) as refused:
        hear(transfer(document("d")))

    assert "over 3" in refused.value.message
    assert set(capabilities()) == {"a", "b", "c"}


def test_among_many_peers_the_one_that_is_meant_answers(monkeypatch):
    """However many there are before it, and with so many answers and no more."""
    monkeypatch.setattr(answering, "RESPONSES_LIMIT", 3)
    for n in range(12):
        hear(greet(f"cap-{n}", sender=f"peer-{n}"))

    assert [who(f"cap-{n}") for n in range(12)] == [[f"peer-{n}"] for n in range(12)]
    assert len(ask()) == 3


def test_answers_are_bounded_in_all(monkeypatch):
    monkeypatch.setattr(answering, "RESPONSES_BYTES_LIMIT", 2000)
    for n in range(12):
        hear(greet("a", sender=f"peer-{n}"))
    said = sum(len(json.dumps(raw)) for raw in ask("a"))

    assert 0 < said < 2500


@pytest.mark.parametrize("key", ["id", "reply_to", "trace_id", "workspace_id"])
def test_what_every_answer_repeats_is_short(key):
    with pytest.raises(EnvelopeError) as refused:
        ask(**{key: "x" * 257})

    assert (refused.value.reason_code, refused.value.path) == ("malformed", f"$.{key}")


def test_everything_known_survives_an_export():
    hear(greet("a", "b"), transfer(document("a"), ext={"z": 1, "a": 2}))
    hear(transfer(document("only-sent"), "coder", acme=[1]))
    before = {peer: capabilities(peer) for peer in ("designer", "coder")}
    lines = list(export_lines())
    CatalogEntry.objects.all().delete()
    for line in lines:
        import_line(line)

    assert {peer: capabilities(peer) for peer in before} == before
    CatalogEntry.objects.all().delete()
    forged = [line.replace("a is done.", "b is done.") for line in lines]
    for line in forged:
        import_line(line)
    assert not capabilities()["a"]["verified"]
