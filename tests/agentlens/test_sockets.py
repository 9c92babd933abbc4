"""Live events over a real WebSocket, as a browser and as a program would have them."""

import json
from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from catalog.health.scheduler import Prober
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import import_url, register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failed, well
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

PLACE = "/ws/catalog"


@contextmanager
def socket(server, place=PLACE, headers=None, origin=None):
    url = server.replace("http", "ws") + place
    with connect(url, additional_headers=headers or {}, origin=origin) as opened:
        yield opened


def bearer(role="Viewer"):
    _, token = AuthToken.objects.create(UserFactory(role=role))
    return {"Authorization": f"Bearer {token}"}


def cookie(role="Viewer"):
    browser = Client()
    browser.force_login(UserFactory(role=role))
    return {"Cookie": f"sessionid={browser.cookies['sessionid'].value}"}


def closed_with(opened):
    with pytest.raises(ConnectionClosed) as closed:
        opened.recv(timeout=20)
    return closed.value.rcvd.code


def hears(opened):
    """Whether what happens now comes through."""
    entry = CatalogEntryFactory()
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    return json.loads(opened.recv(timeout=20))["entry_id"] == str(entry.pk)


@pytest.mark.parametrize("known_by", [bearer, cookie])
def test_going_away_and_coming_back_is_seen_as_it_happens(server, known_by):
    with socket(server, headers=known_by()) as opened:
        entry = CatalogEntryFactory(status=Status.UNKNOWN)
        for probe in (well(80), failed(), failed(), failed(), well(90)):
            record_probe(entry, probe)
        told = [json.loads(opened.recv(timeout=20)) for _ in range(4)]

    assert {event["entry_id"] for event in told} == {str(entry.pk)}
    assert [(event["before"], event["status"]) for event in told] == [
        ("unknown", "active"),
        ("active", "degraded"),
        ("degraded", "offline"),
        ("offline", "active"),
    ]
    assert told[2]["error"] == "HTTP 503"
    assert 'class="badge status offline"' in told[2]["badge"]


def test_a_real_agent_goes_away_and_comes_back_before_our_eyes(server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK

    def probe():
        CatalogEntry.objects.update(next_probe_at=timezone.now())
        async_to_sync(Prober().probe_all_due)()

    def told():
        event = json.loads(opened.recv(timeout=20))
        return event["before"], event["status"]

    with socket(server, headers=bearer()) as opened:
        with serving() as agent:
            agent.routes["/card"] = reply(body=card_bytes())
            import_url(agent.url("/card"))
            seen = [json.loads(opened.recv(timeout=20))["type"], told()]
        for _ in range(3):
            probe()
        seen += [told(), told()]
        with serving(port=agent.port) as again:
            again.routes = agent.routes
            probe()
            seen.append(told())

    assert seen == [
        "entry_added",
        ("unknown", "active"),
        ("active", "degraded"),
        ("degraded", "offline"),
        ("offline", "active"),
    ]


def test_entries_that_come_change_and_go_are_told(server):
    with socket(server, headers=bearer()) as opened:
        entry = register(card_bytes()).entry
        register(card_bytes(skills=[skill("Other")]))
        entry.delete()
        told = [json.loads(opened.recv(timeout=20)) for _ in range(3)]

    assert [event["type"] for event in told] == [
        "entry_added",
        "definition_changed",
        "entry_removed",
    ]


def test_a_stranger_is_told_to_say_who_it_is(server):
    with socket(server) as opened:
        assert closed_with(opened) == 4401


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Bearer"},
        {"Cookie": "sessionid=nonsense"},
    ],
)
def test_bad_credentials_are_none(server, headers):
    with socket(server, headers=headers) as opened:
        assert closed_with(opened) == 4401


def test_somebody_without_a_role_may_not(server):
    with socket(server, headers=bearer(role=None)) as opened:
        assert closed_with(opened) == 4403


def test_where_everybody_may_read_everybody_may_listen(server, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    with socket(server) as opened:
        assert hears(opened)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "file://"]
)
def test_another_sites_page_is_refused_whatever_it_holds(server, origin):
    with (
        pytest.raises(InvalidStatus) as refused,
        socket(server, headers=cookie(), origin=origin),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_our_own_page_is_not_foreign(server):
    with socket(server, headers=cookie(), origin=server) as opened:
        assert hears(opened)


@pytest.mark.parametrize("place", ["/ws/nowhere", "/ws", "/catalog"])
def test_there_are_no_other_sockets(server, place):
    with pytest.raises(InvalidStatus), socket(server, place, bearer()):
        pass


def test_what_a_client_says_is_not_listened_to(server):
    with socket(server, headers=bearer()) as opened:
        for nonsense in ("{", b"\xff", "[]" * 1000):
            opened.send(nonsense)
        assert hears(opened)
