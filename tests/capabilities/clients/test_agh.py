"""Tests of the AGH client against a running AgentLens, and between two of them."""

import json
import os
import subprocess
import sys
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
from tests.catalog.integrations.agh.envelopes import (
    build_document,
    build_envelope,
    get_documented_names,
)
from tests.factories import UserFactory
from tests.waiting import wait_until
from tests.with_services import find_free_port

pytestmark = pytest.mark.django_db(transaction=True)

CLI = [sys.executable, "-m", "agentlens.cli"]
# Settings of this AgentLens that a second one must not use.
OWN_VARIABLES = (
    "DATABASE_URL",
    "REDIS_URL",
    "AGENTLENS_DATA_DIR",
    "PROMETHEUS_MULTIPROC_DIR",
)
MINIMAL_CARD = PeerCard(peer_id="designer", display_name="Designer")
DESIGNER_CARD = MINIMAL_CARD.with_capabilities(
    [CapabilityBrief("build-site", "Builds."), CapabilityBrief("review", "Reviews.")]
)


@pytest.fixture
def create_token():
    """Return a function that creates a token for a user of a role."""

    def create(role="Editor") -> str:
        return AuthToken.objects.create(UserFactory(role=role))[1]

    return create


@pytest.fixture
def build_client(agentlens_url, create_token):
    """Return a function that builds a client for a peer, with its own token."""
    clients = []

    def build_agh_client(peer_id, channel="builders", role="Editor") -> AGHClient:
        clients.append(AGHClient(agentlens_url, create_token(role), peer_id, channel))
        return clients[-1]

    yield build_agh_client
    for client in clients:
        client.http.close()


def parse_document(capability_id="build-site", **members) -> CapabilityDocument:
    return CapabilityDocument.parse(
        build_document(capability_id, **members), Problems()
    )


def get_documents(envelope) -> list[CapabilityDocument]:
    return list(read_catalog(envelope.ext))


def test_greet_adds_the_peer_to_the_catalog(build_client):
    build_client("designer").greet(DESIGNER_CARD, "Hello.")

    entry = CatalogEntry.objects.get()
    assert entry.agent_type.endpoint == "agh://builders/designer"
    assert entry.status == Status.ACTIVE


def test_whois_returns_cards_and_documents(build_client):
    designer, ops = build_client("designer"), build_client("ops", role="Viewer")
    designer.greet(DESIGNER_CARD)
    designer.transfer(parse_document())
    responses = {envelope.sender: envelope for envelope in ops.whois()}

    assert set(responses) == {"designer", "agentlens"}
    assert responses["designer"].card == DESIGNER_CARD
    assert get_documents(responses["designer"]) == [parse_document()]


def test_whois_can_select_peer_and_capabilities(build_client):
    designer, ops = build_client("designer"), build_client("ops")
    designer.greet(DESIGNER_CARD)
    for capability_id in ("build-site", "review"):
        designer.transfer(parse_document(capability_id))

    (response,) = ops.whois(to="designer", ids=["review"])
    assert [document.id for document in get_documents(response)] == ["review"]
    (response,) = ops.whois(to="designer", ids=[])
    assert get_documents(response) == []
    assert ops.whois("no such peer") == []


@pytest.mark.parametrize(
    "capability_id",
    ["build-site", "a/b c", "100%25", "é?#&+", "日本語", "a/../b"],
    ids=ascii,
)
def test_transferred_document_can_be_fetched(build_client, capability_id):
    designer, ops = build_client("designer"), build_client("ops", role="Viewer")
    document = parse_document(capability_id, acme={"x": [1, None]})
    designer.greet(MINIMAL_CARD.with_capabilities([CapabilityBrief(capability_id)]))
    designer.transfer(document, ext={"acme.note": "é"})
    envelope = ops.fetch("designer", capability_id)

    assert envelope.kind == MessageKind.CAPABILITY
    assert envelope.document == document
    assert envelope.document.raw == document.raw
    assert envelope.ext == {"acme.note": "é"}


def test_client_fetches_from_its_own_channel(build_client):
    for channel, version in (("builders", "1"), ("testers", "2")):
        designer = build_client("designer", channel)
        designer.greet(DESIGNER_CARD)
        designer.transfer(parse_document(version=version))

    envelope = build_client("ops", "builders").fetch("designer", "build-site")
    assert (envelope.channel, envelope.document.version) == ("builders", "1")


def test_rejected_requests_raise_error_with_reason_code(build_client):
    designer, viewer = build_client("designer"), build_client("ops", role="Viewer")

    def get_error(call, *arguments, **options):
        with pytest.raises(AGHRequestError) as caught:
            call(*arguments, **options)
        assert str(caught.value)
        return caught.value.status, caught.value.reason_code

    assert get_error(viewer.whois, to="nobody") == (404, "not_target")
    assert get_error(designer.fetch, "nobody", "x") == (404, "")
    assert get_error(viewer.transfer, parse_document()) == (403, "")
    document = build_document() | {"outcome": "Another."}
    envelope = build_envelope("capability", {"capability": document})
    assert get_error(designer.post, envelope) == (422, "verification_failed")
    envelope = build_envelope("say", {})
    designer.post(envelope)
    assert get_error(designer.post, envelope) == (409, "duplicate")


def test_whois_without_documents_returns_only_cards(build_client):
    designer, ops = build_client("designer"), build_client("ops", role="Viewer")
    designer.greet(DESIGNER_CARD)
    designer.transfer(parse_document())
    (response,) = ops.whois(to="designer", documents=False)

    assert response.card == DESIGNER_CARD
    assert read_catalog(response.ext) is None


def test_invalid_token_raises_401_error(agentlens_url):
    with (
        AGHClient(agentlens_url, "nonsense", "designer", "builders") as client,
        pytest.raises(AGHRequestError) as caught,
    ):
        client.greet(MINIMAL_CARD)

    assert (caught.value.status, caught.value.reason_code) == (401, "")


def test_response_that_is_not_json_raises_error(agentlens_url, create_token):
    with (
        AGHClient(
            f"{agentlens_url}/nowhere", create_token(), "designer", "builders"
        ) as client,
        pytest.raises(AGHRequestError) as caught,
    ):
        client.greet(MINIMAL_CARD)

    assert caught.value.status == 404


def test_too_large_transfer_is_not_sent(build_client):
    with pytest.raises(EnvelopeTooLarge):
        build_client("designer").transfer(parse_document(examples=["x" * 1_048_576]))


@contextmanager
def run_second_agentlens(data_dir):
    """Run AgentLens in a process with its own database; yield its URL and a token."""
    environment = {
        name: value for name, value in os.environ.items() if name not in OWN_VARIABLES
    }
    environment["AGENTLENS_DATA_DIR"] = str(data_dir)
    port = find_free_port()
    serve_command = [*CLI, "serve", "--no-prober", "--port", str(port)]
    process = subprocess.Popen(
        serve_command, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: responds(process, f"http://127.0.0.1:{port}/login"))
        token_command = [*CLI, "token", "create", "admin"]
        output = subprocess.check_output(token_command, env=environment, text=True)
        yield f"http://127.0.0.1:{port}", output.splitlines()[-1]
    finally:
        process.terminate()
        process.wait(20)


def responds(process, url) -> bool:
    """Check whether the URL of a process, which must be running, responds."""
    assert process.poll() is None
    try:
        with urlopen(url, timeout=1):
            return True
    except OSError:
        return False


def test_relayed_capability_is_unchanged_in_second_agentlens(build_client, tmp_path):
    document = parse_document(
        acme={"z": [1, 2.5, None, "é"], "a": 1e300}, version="1.0.0"
    )
    with run_second_agentlens(tmp_path) as (url, admin_token):
        with AGHClient(url, admin_token, "designer", "builders") as designer:
            designer.greet(DESIGNER_CARD)
            ext = {"acme.cost": {"per": "use"}}
            designer.transfer(document, ext=ext)
            kind, body = "capability", {"capability": document.to_wire()}
            designer.post(build_envelope(kind, body, ext=ext, zeta={"b": 1, "a": 2}))
        with AGHClient(url, admin_token, "relay", "builders") as relay:
            build_client("relay").relay(relay.fetch("designer", "build-site"))

    envelope = build_client("ops").fetch("designer", "build-site")
    assert envelope.document.raw == document.raw
    assert envelope.document.received_digest == document.compute_digest()
    assert envelope.ext == {"acme.cost": {"per": "use"}}
    assert json.dumps(envelope.raw["zeta"]) == '{"b": 1, "a": 2}'
    assert json.dumps(envelope.document.raw["acme"]) == json.dumps(document.raw["acme"])
    assert get_documented_names() == {"build-site"}
