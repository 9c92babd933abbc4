"""How long a peer counts as present after its envelopes."""

import re
import time
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from catalog.health.scheduler import Prober
from catalog.integrations.agh.directory import find_peer
from catalog.models import CatalogEntry, Status
from catalog.registration.service import probe_now
from tests.catalog.integrations.agh.envelopes import (
    build_card,
    build_document,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_whois_response,
    get_entry,
    get_responders,
    receive_envelopes,
)

pytestmark = pytest.mark.django_db(transaction=True)

PRESENCE_TIMEOUT = timedelta(seconds=60)


def probe_due_entries() -> str:
    """Probe all entries that are due; return the status of the peer."""
    async_to_sync(Prober().probe_all_due)()
    return get_entry().status


def probe_after(seconds: int) -> str:
    """Return the status that a probe gives so many seconds after the last greet."""
    now = timezone.now()
    greeted_at = now - timedelta(seconds=seconds)
    CatalogEntry.objects.update(last_success_at=greeted_at, next_probe_at=now)
    return probe_due_entries()


def test_silent_peer_goes_offline_and_becomes_active_by_a_greet():
    receive_envelopes(build_greet("a"))
    assert probe_after(50) == Status.ACTIVE
    assert [probe_after(61) for _ in range(3)] == [
        Status.DEGRADED,
        Status.DEGRADED,
        Status.OFFLINE,
    ]
    assert re.fullmatch(r"The last announcement was 6\d s ago", get_entry().last_error)
    receive_envelopes(build_greet("a"))

    entry = get_entry()
    assert (entry.status, entry.last_error) == (Status.ACTIVE, "")
    assert entry.consecutive_failures == 0


def test_offline_peer_is_not_searchable_until_next_greet(viewer_api):
    def count_results():
        return viewer_api.get("/api/v1/capabilities?q=a").json()["total"]

    receive_envelopes(build_greet("a"))
    assert count_results() == 1
    for _ in range(3):
        probe_after(61)
    assert count_results() == 0
    receive_envelopes(build_greet("a"))
    assert count_results() == 1


def test_whois_response_makes_peer_active():
    receive_envelopes(build_greet("a"))
    probe_after(61)
    receive_envelopes(build_whois_response(build_card("a"), build_document("a")))

    assert get_entry().status == Status.ACTIVE


def test_transfer_does_not_make_offline_peer_active():
    receive_envelopes(build_greet("a"), build_transfer(build_document("a")))
    for _ in range(3):
        probe_after(61)
    last_seen = get_entry().validity_last_seen
    receive_envelopes(build_transfer(build_document("a")))

    assert get_entry().validity_last_seen == last_seen
    CatalogEntry.objects.update(next_probe_at=timezone.now())
    assert probe_due_entries() == Status.OFFLINE


def test_transfers_do_not_change_probe_schedule():
    receive_envelopes(build_greet("a"))
    probe_after(61)
    next_probe_at = get_entry().next_probe_at
    receive_envelopes(*(build_transfer(build_document(name)) for name in "abc"))

    assert (get_entry().status, get_entry().next_probe_at) == (
        Status.DEGRADED,
        next_probe_at,
    )


def test_greet_with_future_timestamp_does_not_block_next_greet():
    now = int(time.time())
    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="Early"), ts=now + 299)
    )
    assert get_entry().greeting.greeted_at.timestamp() <= time.time()
    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="Right"), ts=now + 1)
    )

    assert get_entry().display_name == "Right"


def test_late_greet_makes_peer_active_but_keeps_newer_card():
    now = int(time.time())
    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="New"), ts=now)
    )
    probe_after(61)
    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="Old"), ts=now - 20)
    )

    assert (get_entry().display_name, get_entry().status) == ("New", Status.ACTIVE)


def test_old_greet_shows_presence_only_at_its_timestamp():
    now = int(time.time())
    receive_envelopes(build_greet("a", ts=now - 5000, expires_at=now + 5000))

    assert get_entry().last_success_at.timestamp() == now - 5000
    assert probe_due_entries() == Status.DEGRADED


def test_next_probe_is_when_the_greet_expires():
    receive_envelopes(build_greet("a"))
    entry = get_entry()

    assert entry.next_probe_at == entry.last_success_at + PRESENCE_TIMEOUT


def test_probe_does_not_extend_presence():
    receive_envelopes(build_greet("a"))
    before = get_entry()
    assert probe_after(50) == Status.ACTIVE
    probed = get_entry()
    probe_now(probed)

    assert probed.last_probed_at > before.last_probed_at
    assert probed.next_probe_at - timezone.now() < timedelta(seconds=10)


def test_envelopes_in_wrong_order_keep_newest_card():
    now = int(time.time())
    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="New"), ts=now)
    )
    receive_envelopes(
        build_greet_from_card(build_card("b", display_name="Old"), ts=now - 250)
    )
    receive_envelopes(
        build_whois_response(
            build_card("b", display_name="Old"), build_document("b"), ts=now - 100
        )
    )
    assert get_entry().display_name == "New"

    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="Newest"), ts=now + 1)
    )
    assert get_entry().display_name == "Newest"


def test_old_unexpired_greet_keeps_newer_card():
    now = int(time.time())
    receive_envelopes(build_greet_from_card(build_card("a", display_name="New")))
    members = {"ts": now - 100_000, "expires_at": now + 100}
    receive_envelopes(
        build_greet_from_card(build_card("a", display_name="Old"), **members)
    )

    assert get_entry().display_name == "New"


def test_peer_known_only_from_transfer_has_never_announced_itself():
    receive_envelopes(build_transfer(build_document("a")))
    assert get_entry().status == Status.UNKNOWN
    probe_due_entries()

    entry = get_entry()
    assert (entry.status, entry.last_error) == (
        Status.DEGRADED,
        "The agent has never announced itself",
    )
    assert entry.last_success_at is None


def test_channel_of_peer_is_that_of_its_latest_greet():
    receive_envelopes(
        build_greet("a"), build_transfer(build_document("b"), channel="elsewhere")
    )

    assert find_peer("designer").channel == "builders"
    receive_envelopes(build_greet("a", channel="elsewhere", ts=int(time.time()) + 1))
    assert find_peer("designer").channel == "elsewhere"


def test_offline_peer_does_not_answer_broadcast():
    receive_envelopes(build_greet("a"))
    assert get_responders("a") == ["designer"]
    for _ in range(3):
        probe_after(61)

    assert get_responders("a") == []
