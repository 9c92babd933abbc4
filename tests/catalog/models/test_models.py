import hashlib

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.db.models import ProtectedError

from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    EntryText,
    Provider,
    Source,
    Status,
    compute_agent_key,
)
from tests.factories import (
    AgentTypeFactory,
    CapabilityFactory,
    CatalogEntryFactory,
    ProviderFactory,
)

pytestmark = pytest.mark.django_db


def refused_by_the_database(make, **fields) -> bool:
    """Past every form and `clean()`: the constraint itself."""
    with pytest.raises(IntegrityError), transaction.atomic():
        make(**fields)
    return True


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (Provider, "providers"),
        (AgentType, "agent_types"),
        (Capability, "capabilities"),
        (CatalogEntry, "catalog_entries"),
    ],
)
def test_the_four_tables_of_the_archetype_have_uuid_keys(model, table):
    assert model._meta.db_table == table
    assert table in connection.introspection.table_names()
    assert isinstance(model._meta.pk, models.UUIDField)


def test_one_agent_type_for_each_key_and_version():
    first = AgentTypeFactory(version="1.0.0")
    same = {"endpoint": first.endpoint, "protocol": first.protocol}

    assert refused_by_the_database(AgentTypeFactory, version="1.0.0", **same)
    assert AgentTypeFactory(version="2.0.0", **same).agent_key == first.agent_key


def test_no_version_is_a_version_too():
    first = AgentTypeFactory(version="")

    assert refused_by_the_database(
        AgentTypeFactory, version="", endpoint=first.endpoint
    )


def test_one_capability_for_each_agent_type_kind_and_name():
    first = CapabilityFactory(kind="mcp.tool", name="search")
    same = {"agent_type": first.agent_type, "kind": "mcp.tool"}

    assert refused_by_the_database(CapabilityFactory, name="search", **same)
    assert CapabilityFactory(name="Search", **same)
    assert CapabilityFactory(name="search", **(same | {"kind": "mcp.prompt"}))


def test_one_provider_for_each_organisation_and_team():
    ProviderFactory(organization="Acme", team="")

    assert refused_by_the_database(ProviderFactory, organization="Acme", team="")
    assert ProviderFactory(organization="Acme", team="Search")


def test_one_entry_for_each_agent_whatever_its_versions():
    entry = CatalogEntryFactory()
    newer = AgentTypeFactory(endpoint=entry.agent_type.endpoint, version="2.0.0")

    assert refused_by_the_database(CatalogEntryFactory, agent_type=newer)


def test_one_entry_for_each_agent_type():
    entry = CatalogEntryFactory()
    same = {"agent_type": entry.agent_type, "agent_key": "another"}

    assert refused_by_the_database(CatalogEntryFactory, **same)


@pytest.mark.parametrize(
    ("make", "fields"),
    [
        (CatalogEntryFactory, {"display_name": ""}),
        (CapabilityFactory, {"name": ""}),
        (ProviderFactory, {"organization": ""}),
        (AgentTypeFactory, {"endpoint": ""}),
        (CatalogEntryFactory, {"status": "retired"}),
        (CatalogEntryFactory, {"source": "hearsay"}),
        (CatalogEntryFactory, {"status": None}),
        (AgentTypeFactory, {"version": None}),
        (AgentTypeFactory, {"raw_definition": None}),
        (ProviderFactory, {"team": None}),
    ],
)
def test_the_database_itself_refuses(make, fields):
    assert refused_by_the_database(make, **fields)


@pytest.mark.parametrize("status", Status.values)
def test_every_status_can_be_stored(status):
    assert CatalogEntry.objects.get(pk=CatalogEntryFactory(status=status).pk)


@pytest.mark.parametrize("source", Source.values)
def test_every_source_can_be_stored(source):
    assert CatalogEntry.objects.get(pk=CatalogEntryFactory(source=source).pk)


@pytest.mark.parametrize(
    ("protocol", "endpoint"),
    [("a2a", "https://agent.example.com/a2a"), ("mcp", "mcp:com.example/größe")],
)
def test_the_key_is_the_sha_256_of_protocol_and_endpoint(protocol, endpoint):
    key = compute_agent_key(protocol, endpoint)

    assert key == hashlib.sha256(protocol.encode() + endpoint.encode()).hexdigest()
    assert key == key.lower()
    assert len(key) == 64


def test_the_key_of_a_known_agent_never_changes():
    """As `printf a2ahttps://agent.example.com | sha256sum` says."""
    key = "3450307589807bd8ff91543d95c7dc9823548251f0aa40ebaf437a55f3b013ec"

    assert compute_agent_key("a2a", "https://agent.example.com") == key


def test_a_definition_comes_back_byte_for_byte():
    raw = bytes(range(256))
    stored = AgentType.objects.get(pk=AgentTypeFactory(raw_definition=raw).pk)

    assert stored.definition == raw
    assert stored.digest == hashlib.sha256(raw).hexdigest()


def test_for_display_brings_all_a_list_shows_in_one_query(
    django_assert_num_queries,
):
    CatalogEntryFactory(offers=["a2a.skill", "mcp.tool"])

    with django_assert_num_queries(1):
        entry = CatalogEntry.objects.for_display().get()
        assert entry.agent_type.endpoint
        assert entry.agent_type.provider.organization
        assert entry.capability_count == 2
    assert "raw_definition" in entry.agent_type.get_deferred_fields()


def test_an_entry_without_capabilities_or_provider_is_displayed_too():
    CatalogEntryFactory(agent_type__provider=None)
    entry = CatalogEntry.objects.for_display().get()

    assert (entry.capability_count, entry.agent_type.provider) == (0, None)


def test_only_the_current_version_counts():
    entry = CatalogEntryFactory(offers=["a2a.skill"])
    older = AgentTypeFactory(endpoint=entry.agent_type.endpoint, version="0.9")
    CapabilityFactory.create_batch(2, agent_type=older, kind="mcp.tool")

    assert CatalogEntry.objects.for_display().get().capability_count == 1
    assert not CatalogEntry.objects.offering("mcp.tool").exists()


def test_offering_keeps_entries_with_any_of_the_kinds():
    planner = CatalogEntryFactory(offers=["a2a.skill", "a2a.skill"])
    coder = CatalogEntryFactory(offers=["mcp.tool"])
    CatalogEntryFactory(offers=["mcp.prompt"])

    found = CatalogEntry.objects.offering("a2a.skill", "mcp.tool")
    assert sorted(found.values_list("pk")) == sorted([(planner.pk,), (coder.pk,)])


@pytest.mark.parametrize(
    ("properties", "declared"),
    [
        ({"value": True}, True),
        ({"value": ["text/plain"]}, True),
        ({"value": 0}, True),
        ({"value": "false"}, True),
        ({}, True),
        ({"value": False}, False),
    ],
)
def test_declaring_keeps_what_is_declared_and_not_as_false(properties, declared):
    entry = CatalogEntryFactory()
    CapabilityFactory(
        agent_type=entry.agent_type,
        kind="agent.feature",
        name="transport.streaming",
        properties=properties,
    )

    found = CatalogEntry.objects.declaring("transport.streaming")
    assert found.exists() == declared
    assert not CatalogEntry.objects.declaring("transport").exists()


def test_a_skill_of_that_name_is_no_feature():
    entry = CatalogEntryFactory()
    CapabilityFactory(agent_type=entry.agent_type, name="transport.streaming")

    assert not CatalogEntry.objects.declaring("transport.streaming").exists()


def entry_with_history() -> CatalogEntry:
    entry = CatalogEntryFactory(offers=["a2a.skill"])
    older = AgentTypeFactory(endpoint=entry.agent_type.endpoint, version="0.9")
    CapabilityFactory(agent_type=older)
    DefinitionChange.objects.create(
        entry=entry, agent_type=older, digest="", replaced_definition=b""
    )
    return entry


@pytest.mark.parametrize(
    "delete",
    [
        lambda entry: entry.delete(),
        lambda entry: CatalogEntry.objects.filter(pk=entry.pk).delete(),
    ],
    ids=["one", "queryset"],
)
def test_deleting_an_entry_deletes_all_of_its_agent_and_nothing_else(delete):
    other = entry_with_history()
    delete(entry_with_history())

    assert CatalogEntry.objects.get() == EntryText.objects.get().entry == other
    assert AgentType.objects.count() == Capability.objects.count() == 2
    assert DefinitionChange.objects.get().entry == other


def test_a_provider_with_agents_cannot_be_deleted():
    entry = CatalogEntryFactory()
    provider = entry.agent_type.provider

    with pytest.raises(ProtectedError):
        provider.delete()
    entry.delete()
    assert provider.delete()


@pytest.mark.parametrize(
    ("endpoint", "declared"),
    [("https://a.example", False), ("HTTP://a.example", False), ("mcp:local", True)],
)
def test_what_has_no_address_is_declared(endpoint, declared):
    assert CatalogEntryFactory(agent_type__endpoint=endpoint).declared == declared


def test_names_are_what_people_see():
    team = ProviderFactory(organization="Acme", team="Search")
    agent_type = AgentTypeFactory(endpoint="https://a.example", version="1.0")

    assert (str(team), str(agent_type)) == ("Acme / Search", "https://a.example 1.0")
    assert str(CatalogEntryFactory(display_name="Scout")) == "Scout"
    assert str(CapabilityFactory(name="Search")) == "Search"


def test_a_kind_nobody_registers_any_more_is_not_discoverable():
    assert CapabilityFactory(kind="a2a.skill").discoverable
    assert not CapabilityFactory(kind="agent.feature").discoverable
    assert not CapabilityFactory(kind="gone.kind").discoverable
