"""The optional parser interfaces work for every protocol that has them."""

import json

import pytest
from asgiref.sync import sync_to_async

from capabilities.interfaces import (
    DefinitionExtender,
    EndpointPolicy,
    Introspection,
    Introspector,
    PresencePolicy,
    StubBuilder,
    extenders,
    introspectors,
)
from capabilities.parsers import ParseError, Parser, parsers
from capabilities.records import AgentRecord
from catalog.health.probe import ProbeTarget, run_probe
from catalog.ingestion.writer import IngestOutcome
from catalog.models import CatalogEntry
from catalog.outbound.errors import FetchFailed
from catalog.outbound.http import fetch
from catalog.registration.service import import_url, refresh_entry, register
from tests.servers import reply

pytestmark = pytest.mark.django_db(transaction=True)


class GadgetStubBuilder(StubBuilder):
    def build_stub(self, agent):
        return {"gadget": agent.name, "url": agent.url, "secret": True}

    def is_stub(self, document):
        return document.get("secret") is True


class GadgetParser(Parser):
    """Gadgets: `{"gadget": name, "url": ..., "parts": [...]}`."""

    slug = "gadget"
    label = "Gadget"
    kinds = ()
    stub_builder = GadgetStubBuilder()

    def recognizes(self, document):
        return "gadget" in document

    def parse(self, document, problems):
        return AgentRecord(
            protocol=self.slug,
            endpoint=problems.required_string(document, "url"),
            name=problems.required_string(document, "gadget"),
            description=", ".join(document.get("parts", [])),
        )


class GadgetIntrospector(Introspector):
    """Introspects a gadget at `/describe` below its URL."""

    slug = "gadget"
    label = "Gadget"
    endpoint_paths = ("/gadget",)

    async def introspect(self, url, authorization=""):
        answer = json.loads((await fetch(f"{url}/describe")).body)
        return Introspection({**answer, "url": url})

    def complete(self, definition, answer):
        return {**definition, "parts": answer["parts"], "described": True}

    def is_completed(self, document):
        return bool(document.get("described"))

    def preserve_introspected(self, document, stored):
        return document


class GadgetExtender(DefinitionExtender):
    """Fetches what a gadget has at `more`."""

    slug = "gadget"
    label = "Gadget"

    def find_url(self, definition):
        return definition.get("more", "")

    async def fetch(self, definition, authorization):
        fetched = await fetch(self.find_url(definition), authorization=authorization)
        return fetched.body


class BeaconParser(Parser):
    """Beacons announce themselves; their definitions contain no endpoint."""

    slug = "beacon"
    label = "Beacon"
    kinds = ()
    well_known_paths = ("/beacon",)
    endpoint_policy = EndpointPolicy("Beacons publish /beacon")
    presence_policy = PresencePolicy(timeout=30)

    def recognizes(self, document):
        return "beacon" in document

    def parse(self, document, problems):
        return AgentRecord(
            protocol=self.slug,
            endpoint=problems.required_string(document, "url"),
            name=problems.required_string(document, "beacon"),
        )


class HiddenParser(BeaconParser):
    """Hidden agents have no well-known path."""

    slug = "hidden"
    well_known_paths = ()
    endpoint_policy = EndpointPolicy("Give its declaration")


@pytest.fixture(autouse=True)
def _additional_protocols(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with (
        parsers.temporarily(GadgetParser(), BeaconParser()),
        introspectors.temporarily(GadgetIntrospector()),
        extenders.temporarily(GadgetExtender()),
    ):
        yield


def publish(server, path: str, **document) -> str:
    """Serve a document at a path and return its URL."""
    server.routes[path] = reply(body=json.dumps(document).encode())
    return server.url(path)


@pytest.mark.parametrize("protocol", ["gadget", ""])
def test_second_introspecting_protocol_uses_its_own_introspector(server, protocol):
    publish(server, "/lamp/describe", gadget="Lamp", parts=["bulb", "switch"])

    entry = import_url(server.url("/lamp"), protocol).entry

    assert (entry.agent_type.protocol, entry.display_name) == ("gadget", "Lamp")
    assert entry.description == "bulb, switch"
    if protocol:
        assert {request.method for request in server.requests} == {"GET"}


def test_card_of_second_introspecting_protocol_is_completed(server):
    publish(server, "/lamp/describe", gadget="Lamp", parts=["bulb"])
    url = publish(server, "/card", gadget="Desk lamp", url=server.url("/lamp"))

    entry = import_url(url).entry

    assert (entry.display_name, entry.description) == ("Desk lamp", "bulb")
    assert json.loads(entry.agent_type.definition)["described"] is True


def test_refresh_introspects_second_protocol_again(server):
    publish(server, "/lamp/describe", gadget="Lamp", parts=["bulb"])
    entry = import_url(server.url("/lamp"), "gadget").entry
    publish(server, "/lamp/describe", gadget="Lamp", parts=["bulb", "switch"])

    outcome = refresh_entry(CatalogEntry.objects.get(pk=entry.pk))

    assert outcome.outcome == IngestOutcome.UPDATED
    assert outcome.entry.description == "bulb, switch"


def test_second_introspecting_protocol_is_found_on_bare_host(server):
    publish(server, "/gadget/describe", gadget="Lamp", parts=["bulb"])

    entry = import_url(server.url()).entry

    assert entry.agent_type.endpoint == server.url("/gadget")


def test_guarded_agent_of_second_protocol_becomes_a_stub(server):
    server.routes["/lamp/describe"] = reply(401)
    stub = import_url(server.url("/lamp"), "gadget", allow_stub=True).entry
    assert (stub.agent_type.protocol, stub.display_name) == ("gadget", "127.0.0.1")

    publish(server, "/lamp/describe", gadget="Lamp", parts=["bulb"])
    entry = refresh_entry(stub).entry
    assert (entry.pk, entry.description) == (stub.pk, "bulb")


def test_definition_of_second_protocol_is_extended_with_credentials(server):
    publish(server, "/lamp/describe", gadget="Lamp", parts=["bulb"])
    definition = {"gadget": "Lamp", "url": server.url("/lamp")}
    more = publish(server, "/more", **definition, serial=5)
    url = publish(server, "/card", **definition, more=more)

    entry = import_url(url, authorization="Bearer sesame").entry

    assert json.loads(entry.agent_type.definition)["serial"] == 5


def test_second_protocol_that_requires_endpoint_uses_given_endpoint():
    raw = json.dumps({"beacon": "Rock"}).encode()
    with pytest.raises(ParseError):
        register(raw)

    entry = register(raw, endpoint="https://rock.example.com/light").entry

    assert entry.agent_type.protocol == "beacon"
    assert entry.agent_type.endpoint == "https://rock.example.com/light"


def test_second_protocol_that_requires_endpoint_is_found_below_agent_url(server):
    url = publish(server, "/rock/beacon", beacon="Rock")

    entry = import_url(server.url("/rock")).entry

    assert entry.agent_type.endpoint == server.url("/rock")
    assert (entry.agent_type.protocol, entry.source_url) == ("beacon", url)


def test_capabilities_url_is_parsed_by_the_protocol_that_recognizes_it(server):
    beacon = publish(server, "/files/rock.json", beacon="Rock")
    painter = publish(server, "/files/painter.json", identity={"name": "Painter"})

    rock = import_url(server.url("/rock"), capabilities_url=beacon).entry
    agui = import_url(server.url("/painter"), capabilities_url=painter).entry

    assert rock.agent_type.protocol == "beacon"
    assert (agui.agent_type.protocol, agui.display_name) == ("agui", "Painter")


def test_import_by_protocol_without_well_known_path_fails_with_reason(server):
    with (
        parsers.temporarily(HiddenParser()),
        pytest.raises(FetchFailed, match=r"There is no URL.*Give its declaration"),
    ):
        import_url(server.url("/hidden"), "hidden")


def test_capabilities_url_of_definition_with_endpoint_is_rejected(server):
    url = publish(server, "/files/lamp.json", gadget="Lamp", url=server.url("/lamp"))

    with pytest.raises(FetchFailed, match="omit the capabilities URL"):
        import_url(server.url("/lamp"), capabilities_url=url)


async def test_agent_with_presence_policy_is_not_probed(server):
    raw = json.dumps({"beacon": "Rock"}).encode()
    outcome = await sync_to_async(register)(raw, endpoint=server.url("/rock"))

    probe = await run_probe(ProbeTarget.from_entry(outcome.entry))

    assert probe.error == "The agent has never announced itself"
    assert server.requests == []
