"""Configuration agents offer what their file declares."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from textwrap import dedent

import pytest
from django.db import connections
from django.utils import timezone

from capabilities.parsers import ParseError
from catalog.events.bus import EntryIngested
from catalog.registration.service import register
from routing import config_agents, service
from routing.cleanup import remove_drained
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import card_bytes
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db(transaction=True)

SEED = b"""---
name: DataAnalyzer
capabilities:
  - data-analysis
  - report-generation
capability_metadata:
  data-analysis:
    supported_formats: ["csv", "json", "xlsx"]
    max_file_size: "10MB"
    processing_time: "fast"
  report-generation:
    formats: ["pdf", "html", "json"]
    template_support: true
---
"""


def offers(entry):
    return {one.capability: one for one in entry.registrations.with_state()}


def imported(text):
    return register(dedent(text).encode()).entry


def test_the_seeds_file_registers_what_it_declares():
    entry = register(SEED).entry
    found = offers(entry)

    assert {name: one.metadata for name, one in found.items()} == {
        "data-analysis": {
            "supported_formats": ["csv", "json", "xlsx"],
            "max_file_size": "10MB",
            "processing_time": "fast",
        },
        "report-generation": {
            "formats": ["pdf", "html", "json"],
            "template_support": True,
        },
    }
    assert {(one.version, one.priority) for one in found.values()} == {("1.0.0", 50)}
    assert {(one.declared, one.status) for one in found.values()} == {(True, "active")}


def test_toml_does_as_well():
    entry = imported("""\
        +++
        name = "DataAnalyzer"
        capabilities = ["data-analysis"]
        [capability_metadata.data-analysis]
        supported_formats = ["csv"]
        +++
        """)

    assert offers(entry)["data-analysis"].metadata == {"supported_formats": ["csv"]}


def test_the_same_file_again_changes_nothing():
    entry = register(SEED).entry
    before = list(entry.registrations.values())
    assert register(SEED).entry == entry

    assert list(entry.registrations.values()) == before


def test_importing_again_brings_back_what_was_taken_away_by_hand():
    entry = register(SEED).entry
    service.unregister(offers(entry)["data-analysis"])
    register(SEED)

    assert set(offers(entry)) == {"data-analysis", "report-generation"}


def test_importing_again_mends_what_went_wrong(monkeypatch):
    def fail(entry_id):
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr(config_agents, "sync_registrations", fail)
        entry = register(SEED).entry
    assert offers(entry) == {}
    register(SEED)

    assert set(offers(entry)) == {"data-analysis", "report-generation"}


def test_who_comes_late_with_an_old_file_follows_the_new_one():
    entry = register(SEED).entry
    register(SEED.replace(b"  - report-generation\n", b""))
    config_agents.sync_ingested_entry(EntryIngested(entry.pk, "created"))

    assert set(offers(entry)) == {"data-analysis"}


def test_another_file_adds_changes_and_removes():
    entry = register(SEED).entry
    before = offers(entry)
    imported("""\
        ---
        name: DataAnalyzer
        capabilities: [data-analysis, web-search]
        capability_metadata:
          data-analysis: {supported_formats: [csv]}
        ---
        """)
    after = offers(entry)

    assert set(after) == {"data-analysis", "web-search"}
    assert after["data-analysis"].pk == before["data-analysis"].pk
    assert after["data-analysis"].metadata == {"supported_formats": ["csv"]}
    assert after["web-search"].metadata == {}


def test_a_version_tacked_on_to_a_name_is_the_registrations():
    entry = imported("""\
        ---
        name: DataAnalyzer
        capabilities: ["data-analysis:v2.1"]
        ---
        """)

    assert offers(entry)["data-analysis"].version == "2.1.0"


def test_what_was_registered_by_hand_stays():
    entry = register(SEED).entry
    service.register(entry, "translation", priority=9)
    register(SEED.replace(b"  - report-generation\n", b""))

    assert set(offers(entry)) == {"data-analysis", "translation"}
    assert offers(entry)["translation"].priority == 9


def test_by_hand_and_later_declared_it_stays_as_people_made_it():
    entry = register(SEED).entry
    service.register(entry, "translation", metadata={"by": "hand"})
    more = SEED.replace(b"  - report-generation\n", b"  - translation\n")
    register(more)
    assert offers(entry)["translation"].metadata == {"by": "hand"}

    register(SEED)
    assert "translation" in offers(entry)


def test_a_priority_and_a_status_that_an_editor_gave_stay():
    entry = register(SEED).entry
    given = {"priority": 900, "intent": DesiredState.INACTIVE}
    service.update(offers(entry)["data-analysis"], given)
    register(SEED.replace(b'"10MB"', b'"20MB"'))
    one = offers(entry)["data-analysis"]

    assert (one.priority, one.status) == (900, "inactive")
    assert one.metadata["max_file_size"] == "20MB"


def test_what_drains_is_kept_when_the_file_is_imported_again():
    entry = register(SEED).entry
    service.unregister(offers(entry)["data-analysis"], drain=True)
    service.update(
        offers(entry)["report-generation"], {"intent": DesiredState.INACTIVE}
    )
    register(SEED)

    told = {name: one.status for name, one in offers(entry).items()}
    assert told == {"data-analysis": "active", "report-generation": "inactive"}


def test_what_drained_and_was_not_swept_is_declared_anew():
    """Else the sweep takes away what the file has just declared."""
    entry = register(SEED).entry
    entry.registrations.filter(capability="data-analysis").update(
        drain_until=timezone.now(), intent=DesiredState.DRAINING
    )
    register(SEED.replace(b'"10MB"', b'"20MB"'))
    remove_drained()

    assert set(offers(entry)) == {"data-analysis", "report-generation"}


def test_a_refused_file_leaves_everything_as_it_was():
    entry = register(SEED).entry
    with pytest.raises(ParseError):
        register(SEED.replace(b"  - data-analysis\n", b"  - Data Analysis\n"))

    assert set(offers(entry)) == {"data-analysis", "report-generation"}


def test_an_agent_of_another_protocol_registers_nothing():
    register(card_bytes())

    assert not CapabilityRegistration.objects.exists()


def closing(work, *arguments):
    """A thread leaves its connection open, which keeps the database from going."""
    try:
        work(*arguments)
    finally:
        connections.close_all()


def test_registering_beside_an_import_keeps_nobody_waiting_for_ever():
    """With drained offers to be removed, which both of them do."""
    entry = register(SEED).entry
    for n in range(10):
        entry.registrations.filter(declared=True).delete()
        past = timezone.now() - timedelta(seconds=1)
        drained = {"intent": "draining", "drain_until": past}
        for m in range(3):
            RegistrationFactory(entry=entry, capability=f"old-{m}", **drained)
        with ThreadPoolExecutor(6) as pool:
            begun = [
                pool.submit(closing, service.register, entry, f"task-{n}-{m}")
                for m in range(3)
            ]
            begun += [
                pool.submit(closing, config_agents.sync_registrations, entry.pk)
                for _ in range(3)
            ]
            for one in begun:
                one.result()

    made = CapabilityRegistration.objects.filter(capability__startswith="task-")
    assert made.count() == 30
