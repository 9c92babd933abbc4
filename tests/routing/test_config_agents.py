"""Registrations that the files of configuration agents declare."""

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
from routing.cleanup import remove_drained_registrations
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import card_bytes
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db(transaction=True)

DEFINITION = b"""---
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


def get_registrations(entry):
    return {
        registration.capability: registration
        for registration in entry.registrations.with_state()
    }


def import_definition(text):
    return register(dedent(text).encode()).entry


def test_import_registers_declared_capabilities():
    entry = register(DEFINITION).entry
    registrations = get_registrations(entry)

    assert {
        name: registration.metadata for name, registration in registrations.items()
    } == {
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
    assert {
        (registration.version, registration.priority)
        for registration in registrations.values()
    } == {("1.0.0", 50)}
    assert {
        (registration.declared, registration.status)
        for registration in registrations.values()
    } == {(True, "active")}


def test_toml_front_matter_registers_capabilities():
    entry = import_definition("""\
        +++
        name = "DataAnalyzer"
        capabilities = ["data-analysis"]
        [capability_metadata.data-analysis]
        supported_formats = ["csv"]
        +++
        """)

    assert get_registrations(entry)["data-analysis"].metadata == {
        "supported_formats": ["csv"]
    }


def test_importing_same_file_again_changes_nothing():
    entry = register(DEFINITION).entry
    before = list(entry.registrations.values())
    assert register(DEFINITION).entry == entry

    assert list(entry.registrations.values()) == before


def test_importing_again_restores_unregistered_capability():
    entry = register(DEFINITION).entry
    service.unregister(get_registrations(entry)["data-analysis"])
    register(DEFINITION)

    assert set(get_registrations(entry)) == {"data-analysis", "report-generation"}


def test_importing_again_repairs_failed_sync(monkeypatch):
    def fail(entry_id):
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr(config_agents, "sync_registrations", fail)
        entry = register(DEFINITION).entry
    assert get_registrations(entry) == {}
    register(DEFINITION)

    assert set(get_registrations(entry)) == {"data-analysis", "report-generation"}


def test_late_ingest_event_uses_current_definition():
    entry = register(DEFINITION).entry
    register(DEFINITION.replace(b"  - report-generation\n", b""))
    config_agents.sync_ingested_entry(EntryIngested(entry.pk, "created"))

    assert set(get_registrations(entry)) == {"data-analysis"}


def test_changed_file_adds_updates_and_removes_registrations():
    entry = register(DEFINITION).entry
    before = get_registrations(entry)
    import_definition("""\
        ---
        name: DataAnalyzer
        capabilities: [data-analysis, web-search]
        capability_metadata:
          data-analysis: {supported_formats: [csv]}
        ---
        """)
    after = get_registrations(entry)

    assert set(after) == {"data-analysis", "web-search"}
    assert after["data-analysis"].pk == before["data-analysis"].pk
    assert after["data-analysis"].metadata == {"supported_formats": ["csv"]}
    assert after["web-search"].metadata == {}


def test_version_suffix_of_name_becomes_registration_version():
    entry = import_definition("""\
        ---
        name: DataAnalyzer
        capabilities: ["data-analysis:v2.1"]
        ---
        """)

    assert get_registrations(entry)["data-analysis"].version == "2.1.0"


def test_manual_registration_is_kept():
    entry = register(DEFINITION).entry
    service.register(entry, "translation", priority=9)
    register(DEFINITION.replace(b"  - report-generation\n", b""))

    assert set(get_registrations(entry)) == {"data-analysis", "translation"}
    assert get_registrations(entry)["translation"].priority == 9


def test_manual_registration_is_not_changed_when_declared_later():
    entry = register(DEFINITION).entry
    service.register(entry, "translation", metadata={"by": "hand"})
    changed = DEFINITION.replace(b"  - report-generation\n", b"  - translation\n")
    register(changed)
    assert get_registrations(entry)["translation"].metadata == {"by": "hand"}

    register(DEFINITION)
    assert "translation" in get_registrations(entry)


def test_edited_priority_and_status_are_kept():
    entry = register(DEFINITION).entry
    changes = {"priority": 900, "desired_state": DesiredState.INACTIVE}
    service.update(get_registrations(entry)["data-analysis"], changes)
    register(DEFINITION.replace(b'"10MB"', b'"20MB"'))
    registration = get_registrations(entry)["data-analysis"]

    assert (registration.priority, registration.status) == (900, "inactive")
    assert registration.metadata["max_file_size"] == "20MB"


def test_importing_again_reactivates_draining_registration():
    entry = register(DEFINITION).entry
    service.unregister(get_registrations(entry)["data-analysis"], drain=True)
    service.update(
        get_registrations(entry)["report-generation"],
        {"desired_state": DesiredState.INACTIVE},
    )
    register(DEFINITION)

    statuses = {
        name: registration.status
        for name, registration in get_registrations(entry).items()
    }
    assert statuses == {"data-analysis": "active", "report-generation": "inactive"}


def test_drained_registration_declared_again_survives_cleanup():
    """Otherwise the cleanup would remove a capability that is declared again."""
    entry = register(DEFINITION).entry
    entry.registrations.filter(capability="data-analysis").update(
        drain_until=timezone.now(), desired_state=DesiredState.DRAINING
    )
    register(DEFINITION.replace(b'"10MB"', b'"20MB"'))
    remove_drained_registrations()

    assert set(get_registrations(entry)) == {"data-analysis", "report-generation"}


def test_rejected_file_changes_nothing():
    entry = register(DEFINITION).entry
    with pytest.raises(ParseError):
        register(DEFINITION.replace(b"  - data-analysis\n", b"  - Data Analysis\n"))

    assert set(get_registrations(entry)) == {"data-analysis", "report-generation"}


def test_agent_of_other_protocol_registers_nothing():
    register(card_bytes())

    assert not CapabilityRegistration.objects.exists()


def run_and_close_connections(function, *arguments):
    """Call the function and close the connections of this thread.

    An open connection would keep the test database from being deleted.
    """
    try:
        function(*arguments)
    finally:
        connections.close_all()


def test_concurrent_registration_and_import_do_not_deadlock():
    """Both also remove drained registrations of the agent."""
    entry = register(DEFINITION).entry
    for n in range(10):
        entry.registrations.filter(declared=True).delete()
        past = timezone.now() - timedelta(seconds=1)
        drained = {"desired_state": "draining", "drain_until": past}
        for m in range(3):
            RegistrationFactory(entry=entry, capability=f"old-{m}", **drained)
        with ThreadPoolExecutor(6) as pool:
            futures = [
                pool.submit(
                    run_and_close_connections, service.register, entry, f"task-{n}-{m}"
                )
                for m in range(3)
            ]
            futures += [
                pool.submit(
                    run_and_close_connections,
                    config_agents.sync_registrations,
                    entry.pk,
                )
                for _ in range(3)
            ]
            for future in futures:
                future.result()

    registrations = CapabilityRegistration.objects.filter(
        capability__startswith="task-"
    )
    assert registrations.count() == 30
