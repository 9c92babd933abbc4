"""How long peers live: as long as they say so, each in its own channel."""

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
from tests.catalog.integrations.agh.agh import (
    card,
    document,
    entry_of,
    greet,
    greet_with,
    response,
    transfer,
)
from tests.catalog.integrations.agh.test_peers import hear, who

pytestmark = pytest.mark.django_db(transaction=True)

PRESENCE = timedelta(seconds=60)


def probe_after(seconds: int) -> str:
    """What the prober makes of the peer after so long a silence."""
    now = timezone.now()
    then = now - timedelta(seconds=seconds)
    CatalogEntry.objects.update(last_success_at=then, next_probe_at=now)
    async_to_sync(Prober().probe_all_due)()
    return entry_of().status


def test_a_peer_that_falls_silent_goes_away_and_comes_back_with_a_greet():
    hear(greet("a"))
    assert probe_after(50) == Status.ACTIVE
    assert [probe_after(61) for _ in range(3)] == [
        Status.DEGRADED,
        Status.DEGRADED,
        Status.OFFLINE,
    ]
    assert re.fullmatch(r"The last announcement was 6\d s ago", entry_of().last_error)
    hear(greet("a"))

    entry = entry_of()
    assert (entry.status, entry.last_error) == (Status.ACTIVE, "")
    assert entry.consecutive_failures == 0


def test_a_silent_peer_is_found_no_more_until_it_greets(viewer):
    def found():
        return viewer.get("/api/v1/capabilities?q=a").json()["total"]

    hear(greet("a"))
    assert found() == 1
    for _ in range(3):
        probe_after(61)
    assert found() == 0
    hear(greet("a"))
    assert found() == 1


def test_an_answer_to_a_whois_is_a_sign_of_life_too():
    hear(greet("a"))
    probe_after(61)
    hear(response(card("a"), document("a")))

    assert entry_of().status == Status.ACTIVE


def test_passing_on_an_old_transfer_wakes_nobody():
    hear(greet("a"), transfer(document("a")))
    for _ in range(3):
        probe_after(61)
    before = entry_of().validity_last_seen
    hear(transfer(document("a")))

    assert entry_of().validity_last_seen == before
    CatalogEntry.objects.update(next_probe_at=timezone.now())
    async_to_sync(Prober().probe_all_due)()
    assert entry_of().status == Status.OFFLINE


def test_handing_over_much_makes_nobody_go_away_sooner():
    hear(greet("a"))
    probe_after(61)
    due = entry_of().next_probe_at
    hear(*(transfer(document(name)) for name in "abc"))

    assert (entry_of().status, entry_of().next_probe_at) == (Status.DEGRADED, due)


def test_a_clock_that_is_ahead_silences_nobody():
    now = int(time.time())
    hear(greet_with(card("a", display_name="Early"), ts=now + 299))
    assert entry_of().greeting.greeted_at.timestamp() <= time.time()
    hear(greet_with(card("a", display_name="Right"), ts=now + 1))

    assert entry_of().display_name == "Right"


def test_what_comes_late_is_no_news_but_a_sign_of_life():
    now = int(time.time())
    hear(greet_with(card("a", display_name="New"), ts=now))
    probe_after(61)
    hear(greet_with(card("a", display_name="Old"), ts=now - 20))

    assert (entry_of().display_name, entry_of().status) == ("New", Status.ACTIVE)


def test_what_was_said_long_ago_tells_only_how_it_was_then():
    now = int(time.time())
    hear(greet("a", ts=now - 5000, expires_at=now + 5000))

    assert entry_of().last_success_at.timestamp() == now - 5000
    assert probe_again() == Status.DEGRADED


def probe_again() -> str:
    async_to_sync(Prober().probe_all_due)()
    return entry_of().status


def test_one_is_looked_for_when_its_last_greet_no_longer_holds():
    hear(greet("a"))
    entry = entry_of()

    assert entry.next_probe_at == entry.last_success_at + PRESENCE


def test_looking_for_one_makes_it_live_no_longer():
    hear(greet("a"))
    before = entry_of()
    assert probe_after(50) == Status.ACTIVE
    probed = entry_of()
    probe_now(probed)

    assert probed.last_probed_at > before.last_probed_at
    assert probed.next_probe_at - timezone.now() < timedelta(seconds=10)


def test_what_was_said_earlier_and_came_later_is_no_news():
    now = int(time.time())
    hear(greet_with(card("a", display_name="New"), ts=now))
    hear(greet_with(card("b", display_name="Old"), ts=now - 250))
    hear(response(card("b", display_name="Old"), document("b"), ts=now - 100))
    assert entry_of().display_name == "New"

    hear(greet_with(card("a", display_name="Newest"), ts=now + 1))
    assert entry_of().display_name == "Newest"


def test_what_said_long_ago_that_it_still_holds_does_not_undo_the_last():
    now = int(time.time())
    hear(greet_with(card("a", display_name="New")))
    old = {"ts": now - 100_000, "expires_at": now + 100}
    hear(greet_with(card("a", display_name="Old"), **old))

    assert entry_of().display_name == "New"


def test_who_only_sent_something_was_never_heard():
    hear(transfer(document("a")))
    assert entry_of().status == Status.UNKNOWN
    async_to_sync(Prober().probe_all_due)()

    entry = entry_of()
    assert (entry.status, entry.last_error) == (
        Status.DEGRADED,
        "The agent has never announced itself",
    )
    assert entry.last_success_at is None


def test_a_peer_is_where_it_greeted_and_not_where_it_only_sent_something():
    hear(greet("a"), transfer(document("b"), channel="elsewhere"))

    assert find_peer("designer").channel == "builders"
    hear(greet("a", channel="elsewhere", ts=int(time.time()) + 1))
    assert find_peer("designer").channel == "elsewhere"


def test_who_is_gone_answers_no_broadcast():
    hear(greet("a"))
    assert who("a") == ["designer"]
    for _ in range(3):
        probe_after(61)

    assert who("a") == []
