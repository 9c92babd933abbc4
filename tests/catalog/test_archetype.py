"""Seed 003's archetype: what an agent is, and how it is catalogued, stay apart."""

import inspect
import typing
from dataclasses import fields, is_dataclass

import pytest
from django.db import models

from capabilities.kinds import kinds
from capabilities.parsers import Parser, parsers
from capabilities.protocols.a2a.records import (
    A2AExtension,
    A2AInterface,
    A2ASecurityScheme,
    A2ASignature,
    A2ASkill,
)
from capabilities.protocols.config.parser import ConfigCapability
from capabilities.protocols.mcp.records import MCPPrompt, MCPResource, MCPTool
from capabilities.records import AgentRecord, CapabilityRecord
from catalog.models import AgentType, Capability, CatalogEntry, Provider

CATALOG_ONLY = {
    "display_name",
    "description",
    "categories",
    "status",
    "source",
    "metadata",
    "validity",
    "validity_from",
    "validity_to",
    "validity_last_seen",
}
PRODUCT_ONLY = {
    "protocol",
    "endpoint",
    "version",
    "raw_definition",
    "capabilities",
    "skills",
    "typed_meta",
    "spec_version",
    "provider",
}
RECORDS = {
    "a2a.skill": A2ASkill,
    "a2a.interface": A2AInterface,
    "a2a.security_scheme": A2ASecurityScheme,
    "a2a.extension": A2AExtension,
    "a2a.signature": A2ASignature,
    "mcp.tool": MCPTool,
    "mcp.resource": MCPResource,
    "mcp.prompt": MCPPrompt,
    "config.capability": ConfigCapability,
}
each_parser = pytest.mark.parametrize(
    "parser", list(parsers), ids=lambda parser: parser.slug
)


def field_names(model) -> set[str]:
    return {field.name for field in model._meta.get_fields()}


def test_an_agent_type_has_no_catalog_fields():
    assert not field_names(AgentType) & CATALOG_ONLY


def test_an_agent_type_has_what_makes_it_one():
    needed = {"id", "agent_key", "protocol", "endpoint", "raw_definition", "created_on"}

    assert needed <= field_names(AgentType)
    assert not AgentType._meta.get_field("raw_definition").null


def test_a_catalog_entry_has_no_product_fields():
    assert not field_names(CatalogEntry) & PRODUCT_ONLY


def test_a_catalog_entry_references_exactly_one_agent_type():
    reference = CatalogEntry._meta.get_field("agent_type")

    assert isinstance(reference, models.OneToOneField)
    assert reference.related_model is AgentType
    assert not reference.null


def test_capabilities_hang_off_the_agent_type_alone():
    pointers = [f for f in Capability._meta.get_fields() if f.many_to_one]

    assert [pointer.related_model for pointer in pointers] == [AgentType]
    assert pointers[0].remote_field.on_delete is models.CASCADE


def test_a_provider_belongs_to_agent_types():
    assert AgentType._meta.get_field("provider").related_model is Provider
    assert not {"entry", "entries", "catalog_entries"} & field_names(Provider)


@pytest.mark.parametrize(("slug", "record"), RECORDS.items())
def test_every_capability_type_is_registered_and_satisfies_the_interface(slug, record):
    assert kinds.get(slug).record_class is record
    assert record.kind == slug
    assert issubclass(record, CapabilityRecord)
    assert is_dataclass(record)
    assert list(record(name="").validate())
    assert not list(record(name="Translate").validate())


def test_every_registered_kind_has_a_capability_record_of_its_own():
    for kind in kinds:
        assert issubclass(kind.record_class, CapabilityRecord)
        assert (kind.record_class.kind, callable(kind.record_class.validate)) == (
            kind.slug,
            True,
        )
    assert len({kind.record_class for kind in kinds}) == len(kinds)


@each_parser
def test_a_parser_returns_what_the_agent_is_and_no_catalog_entry(parser):
    returned = typing.get_type_hints(type(parser).parse)["return"]

    assert issubclass(type(parser), Parser)
    assert returned is AgentRecord


@each_parser
def test_a_parser_is_not_told_the_source(parser):
    given = inspect.signature(type(parser).parse).parameters

    assert list(given) == ["self", "document", "problems"]


def test_a_record_has_no_catalog_fields():
    """`name` and `description` are the definition's own words, not the catalog's."""
    own = {field.name for field in fields(AgentRecord)}

    assert not own & (CATALOG_ONLY - {"description"})
    assert not {field.name for field in fields(CapabilityRecord)} & {"status", "source"}
