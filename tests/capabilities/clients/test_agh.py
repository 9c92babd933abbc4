"""A peer's client, against AgentLens as it is served, and from one to another."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.request import urlopen

import pytest
from knox.models import AuthToken

from capabilities.clients.agh import AGHClient, AGHRequestError
from capabilities.problems import Problems
from capabilities.protocols.agh.cards import CapabilityBrief, PeerCard
from capabilities.protocols.agh.catalogs import read_catalog
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.envelopes import MessageKind
from capabilities.protocols.agh.errors import EnvelopeTooLarge
from catalog.models import CatalogEntry, Status
from tests.catalog.integrations.agh.agh import document, envelope, known_in_full
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db(transaction=True)

COMMAND = [sys.executable, "-m", "agentlens.cli"]
# Where another AgentLens must not look.
OURS = ("DATABASE_URL", "REDIS_URL", "AGENTLENS_DATA_DIR", "PROMETHEUS_MULTIPROC_DIR")
CARD_PATH = PeerCard(peer_id="designer", display_name="Designer")
OFFER = CARD_PATH.with_capabilities(
    [CapabilityBrief("build-site", "Builds."), CapabilityBrief("review", "Reviews.")]
)


@pytest.fixture
def token():
    """A token of somebody of the role."""

    def make(role="Editor") -> str:
        return AuthToken.objects.create(UserFactory(role=role))[1]

    return make


@pytest.fixture
def speak(server, token):
    """Clients for peers, each with a token of its own."""
    clients = []

    def make(peer_id, channel="builders", role="Editor") -> AGHClient:
        clients.append(AGHClient(server, token(role), peer_id, channel))
        return clients[-1]

    yield make
    for each in clients:
        each.http.close()


def whole(capability_id="build-site", **members) -> CapabilityDocument:
    return CapabilityDocument.parse(document(capability_id, **members), Problems())


def told_by(answer) -> list[CapabilityDocument]:
    return list(read_catalog(answer.ext))


def test_a_greet_puts_the_peer_into_the_catalog(speak):
    speak("designer").greet(OFFER, "Here I am.")

    entry = CatalogEntry.objects.get()
    assert entry.agent_type.endpoint == "agh://builders/designer"
    assert entry.status == Status.ACTIVE


def test_a_whois_brings_cards_and_documents(speak):
    designer, ops = speak("designer"), speak("ops", role="Viewer")
    designer.greet(OFFER)
    designer.transfer(whole())
    answers = {each.sender: each for each in ops.whois()}

    assert set(answers) == {"designer", "agentlens"}
    assert answers["designer"].card == OFFER
    assert told_by(answers["designer"]) == [whole()]


def test_a_whois_may_be_directed_and_narrowed(speak):
    designer, ops = speak("designer"), speak("ops")
    designer.greet(OFFER)
    for each in ("build-site", "review"):
        designer.transfer(whole(each))

    (answer,) = ops.whois(to="designer", ids=["review"])
    assert [each.id for each in told_by(answer)] == ["review"]
    (answer,) = ops.whois(to="designer", ids=[])
    assert told_by(answer) == []
    assert ops.whois("nobody is called this") == []


@pytest.mark.parametrize(
    "capability_id",
    ["build-site", "a/b c", "100%25", "é?#&+", "日本語", "a/../b"],
    ids=ascii,
)
def test_what_was_transferred_can_be_fetched(speak, capability_id):
    designer, ops = speak("designer"), speak("ops", role="Viewer")
    given = whole(capability_id, acme={"x": [1, None]})
    designer.greet(CARD_PATH.with_capabilities([CapabilityBrief(capability_id)]))
    designer.transfer(given, ext={"acme.note": "é"})
    envelope = ops.fetch("designer", capability_id)

    assert envelope.kind == MessageKind.CAPABILITY
    assert envelope.document == given
    assert envelope.document.raw == given.raw
    assert envelope.ext == {"acme.note": "é"}


def test_a_client_fetches_from_its_own_channel(speak):
    for channel, version in (("builders", "1"), ("testers", "2")):
        designer = speak("designer", channel)
        designer.greet(OFFER)
        designer.transfer(whole(version=version))

    envelope = speak("ops", "builders").fetch("designer", "build-site")
    assert (envelope.channel, envelope.document.version) == ("builders", "1")


def test_refusals_are_raised_with_their_reason(speak):
    designer, viewer = speak("designer"), speak("ops", role="Viewer")

    def refusal(act, *arguments, **named):
        with pytest.raises(AGHRequestError) as refused:
            act(*arguments, **named)
        assert str(refused.value)
        return refused.value.status, refused.value.reason_code

    assert refusal(viewer.whois, to="nobody") == (404, "not_target")
    assert refusal(designer.fetch, "nobody", "x") == (404, "")
    assert refusal(viewer.transfer, whole()) == (403, "")
    false = document() | {"outcome": "Another."}
    said = envelope("capability", {"capability": false})
    assert refusal(designer.post, said) == (422, "verification_failed")
    said = envelope("say", {})
    designer.post(said)
    assert refusal(designer.post, said) == (409, "duplicate")


def test_cards_alone_can_be_asked_for(speak):
    designer, ops = speak("designer"), speak("ops", role="Viewer")
    designer.greet(OFFER)
    designer.transfer(whole())
    (answer,) = ops.whois(to="designer", documents=False)

    assert answer.card == OFFER
    assert read_catalog(answer.ext) is None


def test_a_client_with_a_bad_token_is_told_so(server):
    with (
        AGHClient(server, "nonsense", "designer", "builders") as stranger,
        pytest.raises(AGHRequestError) as refused,
    ):
        stranger.greet(CARD_PATH)

    assert (refused.value.status, refused.value.reason_code) == (401, "")


def test_an_answer_that_is_no_json_is_a_refusal_too(server, token):
    with (
        AGHClient(f"{server}/nowhere", token(), "designer", "builders") as lost,
        pytest.raises(AGHRequestError) as refused,
    ):
        lost.greet(CARD_PATH)

    assert refused.value.status == 404


def test_what_is_too_large_never_leaves(speak):
    with pytest.raises(EnvelopeTooLarge):
        speak("designer").transfer(whole(examples=["x" * 1_048_576]))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(process, url, seconds=60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("it never answered")


@contextmanager
def another_agentlens(folder):
    """A second AgentLens, a process with a database of its own; where, and a token."""
    usual = {key: value for key, value in os.environ.items() if key not in OURS}
    environment = usual | {"AGENTLENS_DATA_DIR": str(folder)}
    port = free_port()
    serving = [*COMMAND, "serve", "--no-prober", "--port", str(port)]
    process = subprocess.Popen(serving, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_for(process, f"http://127.0.0.1:{port}/login")
        making = [*COMMAND, "token", "create", "admin"]
        told = subprocess.check_output(making, env=environment, text=True)
        yield f"http://127.0.0.1:{port}", told.splitlines()[-1]
    finally:
        process.terminate()
        process.wait(20)


def test_one_agentlens_relays_a_capability_to_another_unharmed(speak, tmp_path):
    given = whole(acme={"z": [1, 2.5, None, "é"], "a": 1e300}, version="1.0.0")
    with another_agentlens(tmp_path) as (far, secret):
        with AGHClient(far, secret, "designer", "builders") as designer:
            designer.greet(OFFER)
            ext = {"acme.cost": {"per": "use"}}
            designer.transfer(given, ext=ext)
            kind, body = "capability", {"capability": given.to_wire()}
            designer.post(envelope(kind, body, ext=ext, zeta={"b": 1, "a": 2}))
        with AGHClient(far, secret, "relay", "builders") as there:
            speak("relay").relay(there.fetch("designer", "build-site"))

    arrived = speak("ops").fetch("designer", "build-site")
    assert arrived.document.raw == given.raw
    assert arrived.document.received_digest == given.compute_digest()
    assert arrived.ext == {"acme.cost": {"per": "use"}}
    assert json.dumps(arrived.raw["zeta"]) == '{"b": 1, "a": 2}'
    assert json.dumps(arrived.document.raw["acme"]) == json.dumps(given.raw["acme"])
    assert known_in_full() == {"build-site"}
