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


def assert_integrity_error(factory, **fields) -> None:
    """Check that a database constraint rejects the object, without `clean()`."""
    with pytest.raises(IntegrityError), transaction.atomic():
        factory(**fields)


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (Provider, "providers"),
        (AgentType, "agent_types"),
        (Capability, "capabilities"),
        (CatalogEntry, "catalog_entries"),
    ],
)
def test_main_tables_have_uuid_keys(model, table):
    assert model._meta.db_table == table
    assert table in connection.introspection.table_names()
    assert isinstance(model._meta.pk, models.UUIDField)


def test_agent_type_is_unique_by_key_and_version():
    existing = AgentTypeFactory(version="1.0.0")
    same = {"endpoint": existing.endpoint, "protocol": existing.protocol}

    assert_integrity_error(AgentTypeFactory, version="1.0.0", **same)
    assert AgentTypeFactory(version="2.0.0", **same).agent_key == existing.agent_key


def test_agent_type_with_empty_version_is_unique():
    existing = AgentTypeFactory(version="")

    assert_integrity_error(AgentTypeFactory, version="", endpoint=existing.endpoint)


def test_capability_is_unique_by_agent_type_kind_and_name():
    existing = CapabilityFactory(kind="mcp.tool", name="search")
    same = {"agent_type": existing.agent_type, "kind": "mcp.tool"}

    assert_integrity_error(CapabilityFactory, name="search", **same)
    assert CapabilityFactory(name="Search", **same)
    assert CapabilityFactory(name="search", **(same | {"kind": "mcp.prompt"}))


def test_provider_is_unique_by_organization_and_team():
    ProviderFactory(organization="Acme", team="")

    assert_integrity_error(ProviderFactory, organization="Acme", team="")
    assert ProviderFactory(organization="Acme", team="Search")


def test_entry_is_unique_by_agent_key():
    entry = CatalogEntryFactory()
    newer = AgentTypeFactory(endpoint=entry.agent_type.endpoint, version="2.0.0")

    assert_integrity_error(CatalogEntryFactory, agent_type=newer)


def test_entry_is_unique_by_agent_type():
    entry = CatalogEntryFactory()
    same = {"agent_type": entry.agent_type, "agent_key": "another"}

    assert_integrity_error(CatalogEntryFactory, **same)


@pytest.mark.parametrize(
    ("factory", "fields"),
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
def test_database_rejects_invalid_value(factory, fields):
    assert_integrity_error(factory, **fields)


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
def test_agent_key_is_sha256_of_protocol_and_endpoint(protocol, endpoint):
    key = compute_agent_key(protocol, endpoint)

    assert key == hashlib.sha256(protocol.encode() + endpoint.encode()).hexdigest()
    assert key == key.lower()
    assert len(key) == 64


def test_agent_key_of_fixed_agent_never_changes():
    """Compare with `printf a2ahttps://agent.example.com | sha256sum`."""
    key = "3450307589807bd8ff91543d95c7dc9823548251f0aa40ebaf437a55f3b013ec"

    assert compute_agent_key("a2a", "https://agent.example.com") == key


def test_definition_is_stored_byte_for_byte():
    raw = bytes(range(256))
    stored = AgentType.objects.get(pk=AgentTypeFactory(raw_definition=raw).pk)

    assert stored.definition == raw
    assert stored.digest == hashlib.sha256(raw).hexdigest()


def test_for_display_fetches_list_data_in_one_query(
    django_assert_num_queries,
):
    CatalogEntryFactory(offers=["a2a.skill", "mcp.tool", "a2a.interface"])

    with django_assert_num_queries(1):
        entry = CatalogEntry.objects.for_display().get()
        assert entry.agent_type.endpoint
        assert entry.agent_type.provider.organization
        assert (entry.capability_count, entry.technical_count) == (2, 1)
    assert "raw_definition" in entry.agent_type.get_deferred_fields()


def test_for_display_includes_entry_without_capabilities_and_provider():
    CatalogEntryFactory(agent_type__provider=None)
    entry = CatalogEntry.objects.for_display().get()

    assert (entry.capability_count, entry.agent_type.provider) == (0, None)


def test_capabilities_of_older_versions_are_not_counted():
    entry = CatalogEntryFactory(offers=["a2a.skill"])
    old_version = AgentTypeFactory(endpoint=entry.agent_type.endpoint, version="0.9")
    CapabilityFactory.create_batch(2, agent_type=old_version, kind="mcp.tool")

    assert CatalogEntry.objects.for_display().get().capability_count == 1
    assert not CatalogEntry.objects.offering("mcp.tool").exists()


def test_offering_keeps_entries_with_any_of_the_kinds():
    planner = CatalogEntryFactory(offers=["a2a.skill", "a2a.skill"])
    coder = CatalogEntryFactory(offers=["mcp.tool"])
    CatalogEntryFactory(offers=["mcp.prompt"])

    entries = CatalogEntry.objects.offering("a2a.skill", "mcp.tool")
    assert sorted(entries.values_list("pk")) == sorted([(planner.pk,), (coder.pk,)])


@pytest.mark.parametrize(
    ("properties", "is_kept"),
    [
        ({"value": True}, True),
        ({"value": ["text/plain"]}, True),
        ({"value": 0}, True),
        ({"value": "false"}, True),
        ({}, True),
        ({"value": False}, False),
    ],
)
def test_declaring_excludes_entries_that_declare_feature_as_false(properties, is_kept):
    entry = CatalogEntryFactory()
    CapabilityFactory(
        agent_type=entry.agent_type,
        kind="agent.feature",
        name="transport.streaming",
        properties=properties,
    )

    entries = CatalogEntry.objects.declaring("transport.streaming")
    assert entries.exists() == is_kept
    assert not CatalogEntry.objects.declaring("transport").exists()


def test_declaring_ignores_skill_with_name_of_feature():
    entry = CatalogEntryFactory()
    CapabilityFactory(agent_type=entry.agent_type, name="transport.streaming")

    assert not CatalogEntry.objects.declaring("transport.streaming").exists()


def create_entry_with_history() -> CatalogEntry:
    entry = CatalogEntryFactory(offers=["a2a.skill"])
    old_version = AgentTypeFactory(endpoint=entry.agent_type.endpoint, version="0.9")
    CapabilityFactory(agent_type=old_version)
    DefinitionChange.objects.create(
        entry=entry, agent_type=old_version, digest="", replaced_definition=b""
    )
    return entry


@pytest.mark.parametrize(
    "delete",
    [
        lambda entry: entry.delete(),
        lambda entry: CatalogEntry.objects.filter(pk=entry.pk).delete(),
    ],
    ids=["instance", "queryset"],
)
def test_deleting_entry_deletes_data_of_its_agent_but_not_of_others(delete):
    other = create_entry_with_history()
    delete(create_entry_with_history())

    assert CatalogEntry.objects.get() == EntryText.objects.get().entry == other
    assert AgentType.objects.count() == Capability.objects.count() == 2
    assert DefinitionChange.objects.get().entry == other


def test_provider_with_agents_cannot_be_deleted():
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
def test_entry_without_url_is_declared(endpoint, declared):
    assert CatalogEntryFactory(agent_type__endpoint=endpoint).declared == declared


def test_str_returns_display_text():
    team = ProviderFactory(organization="Acme", team="Search")
    agent_type = AgentTypeFactory(endpoint="https://a.example", version="1.0")

    assert (str(team), str(agent_type)) == ("Acme / Search", "https://a.example 1.0")
    assert str(CatalogEntryFactory(display_name="Scout")) == "Scout"
    assert str(CapabilityFactory(name="Search")) == "Search"


def test_capability_of_unregistered_kind_is_not_discoverable():
    assert CapabilityFactory(kind="a2a.skill").discoverable
    assert not CapabilityFactory(kind="agent.feature").discoverable
    assert not CapabilityFactory(kind="removed.kind").discoverable
