"""Agent types and catalog entries keep their data apart."""

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

CATALOG_FIELDS = {
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
AGENT_TYPE_FIELDS = {
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
for_each_parser = pytest.mark.parametrize(
    "parser", list(parsers), ids=lambda parser: parser.slug
)


def get_field_names(model) -> set[str]:
    return {field.name for field in model._meta.get_fields()}


def test_agent_type_has_no_catalog_fields():
    assert not get_field_names(AgentType) & CATALOG_FIELDS


def test_agent_type_has_required_fields():
    required = {
        "id",
        "agent_key",
        "protocol",
        "endpoint",
        "raw_definition",
        "created_on",
    }

    assert required <= get_field_names(AgentType)
    assert not AgentType._meta.get_field("raw_definition").null


def test_catalog_entry_has_no_agent_type_fields():
    assert not get_field_names(CatalogEntry) & AGENT_TYPE_FIELDS


def test_catalog_entry_references_exactly_one_agent_type():
    reference = CatalogEntry._meta.get_field("agent_type")

    assert isinstance(reference, models.OneToOneField)
    assert reference.related_model is AgentType
    assert not reference.null


def test_capability_references_only_agent_type():
    references = [field for field in Capability._meta.get_fields() if field.many_to_one]

    assert [field.related_model for field in references] == [AgentType]
    assert references[0].remote_field.on_delete is models.CASCADE


def test_provider_is_referenced_by_agent_type_only():
    assert AgentType._meta.get_field("provider").related_model is Provider
    assert not {"entry", "entries", "catalog_entries"} & get_field_names(Provider)


@pytest.mark.parametrize(("slug", "record"), RECORDS.items())
def test_capability_record_is_registered_and_implements_interface(slug, record):
    assert kinds.get(slug).record_class is record
    assert record.kind == slug
    assert issubclass(record, CapabilityRecord)
    assert is_dataclass(record)
    assert list(record(name="").validate())
    assert not list(record(name="Translate").validate())


def test_every_kind_has_its_own_capability_record():
    for kind in kinds:
        assert issubclass(kind.record_class, CapabilityRecord)
        assert (kind.record_class.kind, callable(kind.record_class.validate)) == (
            kind.slug,
            True,
        )
    assert len({kind.record_class for kind in kinds}) == len(kinds)


@for_each_parser
def test_parser_returns_agent_record(parser):
    return_type = typing.get_type_hints(type(parser).parse)["return"]

    assert issubclass(type(parser), Parser)
    assert return_type is AgentRecord


@for_each_parser
def test_parser_does_not_receive_source(parser):
    parameters = inspect.signature(type(parser).parse).parameters

    assert list(parameters) == ["self", "document", "problems"]


def test_records_have_no_catalog_fields():
    """The `name` and `description` of a record are those of the definition."""
    record_fields = {field.name for field in fields(AgentRecord)}

    assert not record_fields & (CATALOG_FIELDS - {"description"})
    assert not {field.name for field in fields(CapabilityRecord)} & {"status", "source"}
