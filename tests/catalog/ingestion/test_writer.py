import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connections

from capabilities.parsers import ParseError
from catalog.ingestion import writer
from catalog.ingestion.curation import curate
from catalog.ingestion.writer import IngestOutcome
from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    Provider,
    Source,
    Status,
)
from catalog.registration.service import register
from catalog.search import entry_writer
from tests.factories import UserFactory, card_bytes, skill

pytestmark = pytest.mark.django_db


def test_new_definition_creates_entry_with_its_data():
    outcome = register(card_bytes())

    entry = outcome.entry
    assert outcome.outcome == IngestOutcome.CREATED
    assert (entry.display_name, entry.description) == ("Translator", "Translates")
    assert (entry.status, entry.source) == (Status.UNKNOWN, Source.PUSH)
    assert entry.agent_type.provider.organization == "Acme"
    assert entry.agent_type.definition == card_bytes()
    assert entry.next_probe_at is not None
    kinds = entry.agent_type.capabilities.values_list("kind", flat=True)
    assert {"a2a.skill", "a2a.interface", "agent.feature"} == set(kinds)


def test_registering_same_bytes_updates_only_last_seen():
    first = register(card_bytes()).entry
    second = register(card_bytes())

    assert second.outcome == IngestOutcome.UNCHANGED
    assert second.entry.pk == first.pk
    assert second.entry.validity_last_seen > first.validity_last_seen
    assert AgentType.objects.count() == CatalogEntry.objects.count() == 1
    assert not DefinitionChange.objects.exists()


def test_new_version_becomes_current_and_keeps_old_version():
    first = register(card_bytes(version="1.0.0")).entry
    second = register(card_bytes(version="2.0.0"))

    assert (second.outcome, second.entry.pk) == (IngestOutcome.UPDATED, first.pk)
    assert second.entry.agent_type.version == "2.0.0"
    assert set(AgentType.objects.values_list("version", flat=True)) == {
        "1.0.0",
        "2.0.0",
    }


def test_older_version_becomes_current_again():
    register(card_bytes(version="1.0.0"))
    register(card_bytes(version="2.0.0"))
    outcome = register(card_bytes(version="1.0.0"))

    assert outcome.outcome == IngestOutcome.UPDATED
    assert CatalogEntry.objects.get().agent_type.version == "1.0.0"
    assert AgentType.objects.count() == 2


def test_changed_definition_of_same_version_records_changes():
    before = card_bytes(skills=[skill("Keep"), skill("Alter"), skill("Drop")])
    register(before)
    kept_id = Capability.objects.get(name="Keep").pk
    altered = skill("Alter", description="Changed")
    outcome = register(card_bytes(skills=[skill("Keep"), altered, skill("Bring")]))

    change = DefinitionChange.objects.get()
    assert change.added == [{"kind": "a2a.skill", "name": "Bring"}]
    removed = {"kind": "a2a.skill", "name": "Drop", "breaking": True}
    assert change.removed == [removed]
    assert [item["name"] for item in change.changed] == ["Alter"]
    assert bytes(change.replaced_definition) == before
    assert change.digest == outcome.entry.agent_type.digest
    assert outcome.changes.added == change.added
    assert Capability.objects.get(name="Keep").pk == kept_id


def test_new_definition_updates_only_fields_not_curated():
    entry = register(card_bytes(name="Old name", description="Old description")).entry
    curate(entry, {"display_name": "Our translator"}, by=UserFactory())
    register(card_bytes(name="New name", description="New description"))

    entry.refresh_from_db()
    assert (entry.display_name, entry.description) == (
        "Our translator",
        "New description",
    )


def test_new_definition_keeps_deprecated_status():
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    register(card_bytes(version="2.0.0"))

    entry.refresh_from_db()
    assert entry.status == Status.DEPRECATED
    assert entry.next_probe_at is None


def test_agent_without_url_is_declared_active():
    server = {"name": "com.example/local", "version": "1.0.0", "packages": []}
    server["$schema"] = "https://static.modelcontextprotocol.io/x/server.schema.json"
    entry = register(json.dumps(server).encode(), "mcp").entry

    assert entry.agent_type.endpoint == "mcp:com.example/local"
    assert (entry.status, entry.declared) == (Status.ACTIVE, True)
    assert entry.next_probe_at is None


def test_provider_is_shared_and_keeps_first_url():
    register(card_bytes(url="https://a.example.com", provider={"organization": "Acme"}))
    for host, url in (("b", "https://acme.example"), ("c", "https://evil.example")):
        provider = {"organization": "Acme", "url": url}
        register(card_bytes(url=f"https://{host}.example.com", provider=provider))

    assert Provider.objects.get().url == "https://acme.example"


def test_changed_definition_updates_source():
    register(card_bytes(), source=Source.DEMO)
    entry = register(card_bytes(name="Other"), source=Source.PUSH).entry

    assert CatalogEntry.objects.get().source == Source.PUSH
    assert entry.next_probe_at is not None


def test_registering_same_definition_keeps_source():
    register(card_bytes(), source=Source.DEMO)
    before = CatalogEntry.objects.values().get()
    register(card_bytes(), source=Source.PUSH)
    after = CatalogEntry.objects.values().get()

    assert after.pop("validity_last_seen") > before.pop("validity_last_seen")
    assert after == before


def test_only_latest_changes_are_kept(monkeypatch):
    monkeypatch.setattr(writer, "CHANGE_LIMIT", 3)
    for n in range(6):
        entry = register(card_bytes(skills=[skill(f"Task {n}")])).entry

    names = [change.added[0]["name"] for change in entry.changes.all()]
    assert names == ["Task 5", "Task 4", "Task 3"]


def test_demo_entry_is_never_due():
    entry = register(card_bytes(), source=Source.DEMO).entry

    assert entry.next_probe_at is None


def test_invalid_definition_stores_nothing():
    with pytest.raises(ParseError):
        register(card_bytes(skills=[{"id": "nameless"}]))

    assert not Provider.objects.exists()
    assert not AgentType.objects.exists()


def test_failed_write_stores_nothing(monkeypatch):
    def raise_error(*args):
        raise IntegrityError("The last step fails")

    monkeypatch.setattr(entry_writer, "index_entries", raise_error)
    with pytest.raises(IntegrityError):
        register(card_bytes())

    assert not CatalogEntry.objects.exists()
    assert not Provider.objects.exists()


def test_deleting_entry_deletes_all_versions_of_agent():
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    other = register(card_bytes(url="https://other.example.com")).entry
    entry.delete()

    assert set(CatalogEntry.objects.all()) == {other}
    assert set(AgentType.objects.all()) == {other.agent_type}


def register_in_thread(raw: bytes) -> IngestOutcome:
    try:
        return register(raw).outcome
    finally:
        connections.close_all()


def register_concurrently(definitions: list[bytes]) -> list[IngestOutcome]:
    with ThreadPoolExecutor(len(definitions)) as pool:
        return list(pool.map(register_in_thread, definitions))


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_of_same_version_create_one_entry():
    results = register_concurrently([card_bytes()] * 20)

    assert sorted(results) == [IngestOutcome.CREATED] + [IngestOutcome.UNCHANGED] * 19
    assert CatalogEntry.objects.count() == AgentType.objects.count() == 1
    assert Provider.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_of_versions_create_one_entry_with_every_version():
    versions = [f"1.{n % 10}.0" for n in range(20)]
    results = register_concurrently(
        [card_bytes(version=version) for version in versions]
    )

    assert results.count(IngestOutcome.CREATED) == 1
    entry = CatalogEntry.objects.get()
    stored_versions = set(AgentType.objects.values_list("version", flat=True))
    assert stored_versions == set(versions)
    assert entry.agent_type.version in stored_versions
    assert Capability.objects.filter(kind="a2a.skill").count() == 10


def test_rereading_adds_what_an_earlier_version_did_not_read_t15():
    tool = {"name": "dig", "execution": {"taskSupport": "optional"}}
    raw = json.dumps(
        {"serverInfo": {"name": "Garden"}, "url": "https://a.example", "tools": [tool]}
    ).encode()
    entry = register(raw).entry
    capability = entry.agent_type.capabilities.get(kind="mcp.tool")
    complete = dict(capability.properties)
    del capability.properties["execution"]
    capability.save()

    unchanged = register(raw)
    capability.refresh_from_db()
    assert unchanged.outcome == IngestOutcome.UNCHANGED
    assert "execution" not in capability.properties

    writer.reread_capabilities(entry.agent_key)
    capability.refresh_from_db()
    assert capability.properties == complete
    assert not DefinitionChange.objects.exists()


def test_rereading_an_invalid_definition_changes_nothing():
    entry = register(card_bytes()).entry
    count = entry.agent_type.capabilities.count()
    AgentType.objects.update(raw_definition=b"{}")

    writer.reread_capabilities(entry.agent_key)

    assert entry.agent_type.capabilities.count() == count
