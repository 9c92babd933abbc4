import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connections

from capabilities.parsers import ParseError
from catalog.ingestion import writer
from catalog.ingestion.curation import curate
from catalog.ingestion.writer import Result
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


def test_a_new_definition_becomes_an_entry_with_all_it_says():
    outcome = register(card_bytes())

    entry = outcome.entry
    assert outcome.result == Result.CREATED
    assert (entry.display_name, entry.description) == ("Translator", "Translates")
    assert (entry.status, entry.source) == (Status.UNKNOWN, Source.PUSH)
    assert entry.agent_type.provider.organization == "Acme"
    assert entry.agent_type.definition == card_bytes()
    assert entry.next_probe_at is not None
    kinds = entry.agent_type.capabilities.values_list("kind", flat=True)
    assert {"a2a.skill", "a2a.interface", "agent.feature"} == set(kinds)


def test_the_same_bytes_again_change_nothing_but_last_seen():
    first = register(card_bytes()).entry
    second = register(card_bytes())

    assert second.result == Result.UNCHANGED
    assert second.entry.pk == first.pk
    assert second.entry.validity_last_seen > first.validity_last_seen
    assert AgentType.objects.count() == CatalogEntry.objects.count() == 1
    assert not DefinitionChange.objects.exists()


def test_a_new_version_moves_the_entry_and_keeps_the_old_one():
    first = register(card_bytes(version="1.0.0")).entry
    second = register(card_bytes(version="2.0.0"))

    assert (second.result, second.entry.pk) == (Result.UPDATED, first.pk)
    assert second.entry.agent_type.version == "2.0.0"
    assert set(AgentType.objects.values_list("version", flat=True)) == {
        "1.0.0",
        "2.0.0",
    }


def test_an_older_version_moves_the_entry_back():
    register(card_bytes(version="1.0.0"))
    register(card_bytes(version="2.0.0"))
    back = register(card_bytes(version="1.0.0"))

    assert back.result == Result.UPDATED
    assert CatalogEntry.objects.get().agent_type.version == "1.0.0"
    assert AgentType.objects.count() == 2


def test_other_bytes_of_the_same_version_replace_and_record_the_difference():
    before = card_bytes(skills=[skill("Keep"), skill("Alter"), skill("Drop")])
    register(before)
    kept = Capability.objects.get(name="Keep").pk
    altered = skill("Alter", description="Says something else")
    outcome = register(card_bytes(skills=[skill("Keep"), altered, skill("Bring")]))

    change = DefinitionChange.objects.get()
    assert change.added == [{"kind": "a2a.skill", "name": "Bring"}]
    assert change.removed == [{"kind": "a2a.skill", "name": "Drop"}]
    assert change.changed == [{"kind": "a2a.skill", "name": "Alter"}]
    assert bytes(change.replaced_definition) == before
    assert change.digest == outcome.entry.agent_type.digest
    assert outcome.changes.added == change.added
    assert Capability.objects.get(name="Keep").pk == kept


def test_a_curators_words_survive_a_new_definition_and_others_follow_it():
    entry = register(card_bytes(name="Old name", description="Old words")).entry
    curate(entry, {"display_name": "Our translator"}, by=UserFactory())
    register(card_bytes(name="New name", description="New words"))

    entry.refresh_from_db()
    assert (entry.display_name, entry.description) == ("Our translator", "New words")


def test_deprecated_stays_deprecated():
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    register(card_bytes(version="2.0.0"))

    entry.refresh_from_db()
    assert entry.status == Status.DEPRECATED
    assert entry.next_probe_at is None


def test_what_has_no_address_is_active_by_its_word():
    server = {"name": "com.example/local", "version": "1.0.0", "packages": []}
    server["$schema"] = "https://static.modelcontextprotocol.io/x/server.schema.json"
    entry = register(json.dumps(server).encode(), "mcp").entry

    assert entry.agent_type.endpoint == "mcp:com.example/local"
    assert (entry.status, entry.declared) == (Status.ACTIVE, True)
    assert entry.next_probe_at is None


def test_providers_are_shared_and_keep_the_first_url():
    register(card_bytes(url="https://a.example.com", provider={"organization": "Acme"}))
    for host, url in (("b", "https://acme.example"), ("c", "https://evil.example")):
        provider = {"organization": "Acme", "url": url}
        register(card_bytes(url=f"https://{host}.example.com", provider=provider))

    assert Provider.objects.get().url == "https://acme.example"


def test_the_source_follows_whoever_registered_something_new_last():
    register(card_bytes(), source=Source.DEMO)
    entry = register(card_bytes(name="Other"), source=Source.PUSH).entry

    assert CatalogEntry.objects.get().source == Source.PUSH
    assert entry.next_probe_at is not None


def test_the_same_again_changes_nothing_but_when_it_was_seen():
    register(card_bytes(), source=Source.DEMO)
    before = CatalogEntry.objects.values().get()
    register(card_bytes(), source=Source.PUSH)
    after = CatalogEntry.objects.values().get()

    assert after.pop("validity_last_seen") > before.pop("validity_last_seen")
    assert after == before


def test_of_endless_changes_the_latest_are_remembered(monkeypatch):
    monkeypatch.setattr(writer, "CHANGE_LIMIT", 3)
    for n in range(6):
        entry = register(card_bytes(skills=[skill(f"Task {n}")])).entry

    names = [change.added[0]["name"] for change in entry.changes.all()]
    assert names == ["Task 5", "Task 4", "Task 3"]


def test_demo_entries_are_never_due():
    entry = register(card_bytes(), source=Source.DEMO).entry

    assert entry.next_probe_at is None


def test_a_refused_definition_leaves_nothing_behind():
    with pytest.raises(ParseError):
        register(card_bytes(skills=[{"id": "nameless"}]))

    assert not Provider.objects.exists()
    assert not AgentType.objects.exists()


def test_a_write_that_fails_halfway_leaves_nothing_behind(monkeypatch):
    def broken(*args):
        raise IntegrityError("the last step fails")

    monkeypatch.setattr(entry_writer, "index_entries", broken)
    with pytest.raises(IntegrityError):
        register(card_bytes())

    assert not CatalogEntry.objects.exists()
    assert not Provider.objects.exists()


def test_deleting_an_entry_deletes_every_version_of_its_agent():
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    other = register(card_bytes(url="https://other.example.com")).entry
    entry.delete()

    assert set(CatalogEntry.objects.all()) == {other}
    assert set(AgentType.objects.all()) == {other.agent_type}


def register_in_thread(raw: bytes) -> Result:
    try:
        return register(raw).result
    finally:
        connections.close_all()


def together(definitions: list[bytes]) -> list[Result]:
    with ThreadPoolExecutor(len(definitions)) as pool:
        return list(pool.map(register_in_thread, definitions))


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_of_one_version_make_one_entry():
    results = together([card_bytes()] * 20)

    assert sorted(results) == [Result.CREATED] + [Result.UNCHANGED] * 19
    assert CatalogEntry.objects.count() == AgentType.objects.count() == 1
    assert Provider.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_of_different_versions_make_one_entry_with_all_of_them():
    versions = [f"1.{n % 10}.0" for n in range(20)]
    results = together([card_bytes(version=version) for version in versions])

    assert results.count(Result.CREATED) == 1
    entry = CatalogEntry.objects.get()
    known = set(AgentType.objects.values_list("version", flat=True))
    assert known == set(versions)
    assert entry.agent_type.version in known
    assert Capability.objects.filter(kind="a2a.skill").count() == 10
