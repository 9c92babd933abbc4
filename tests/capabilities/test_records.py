import json
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import ClassVar

import pytest

from capabilities.features import AgentFeature
from capabilities.protocols.a2a.records import (
    KINDS,
    A2AExtension,
    A2AInterface,
    A2ASecurityScheme,
    A2ASignature,
    A2ASkill,
)
from capabilities.records import AgentRecord, CapabilityRecord, ProviderRecord

COMPLETE_RECORDS = [
    A2ASkill(
        name="Find",
        description="Finds things",
        id="find",
        tags=["search"],
        input_modes=["text/plain"],
        output_modes=["application/json"],
        security=[{"key": ["read"]}, {}],
    ),
    A2AInterface(
        name="https://a.example.com/",
        url="https://a.example.com/",
        binding="JSONRPC",
        protocol_version="1.0",
        tenant="north",
    ),
    A2ASecurityScheme(
        name="http",
        description="For staff",
        key="staff",
        type="http",
        method="Bearer",
        fields={"scheme": "Bearer", "bearer_format": None},
    ),
    A2AExtension(
        name="urn:ext",
        description="Extra",
        uri="urn:ext",
        required=True,
        params={"a": 1},
    ),
    A2ASignature(
        name="ES256",
        algorithm="ES256",
        key_id="k1",
        protected="e30",
        signature="c2ln",
        header={"note": "x"},
    ),
    AgentFeature(name="transport.streaming", value=False),
]
MINIMAL_RECORDS = [type(record)(name="minimal") for record in COMPLETE_RECORDS]
for_each_record = pytest.mark.parametrize(
    "record",
    [*COMPLETE_RECORDS, *MINIMAL_RECORDS],
    ids=lambda record: f"{record.kind}-{record.name}",
)


@dataclass(frozen=True, kw_only=True)
class SampleRecord(CapabilityRecord):
    kind: ClassVar[str] = "test.sample"

    color: str | None = None
    size: int = 0


def build_agent(**values):
    return AgentRecord(
        **{"protocol": "test", "endpoint": "https://a.example/"} | values
    )


def test_complete_records_cover_every_a2a_kind():
    assert {kind.record_class for kind in KINDS} < {
        type(record) for record in COMPLETE_RECORDS
    }


@for_each_record
def test_record_survives_storage_round_trip(record):
    stored = json.loads(json.dumps(record.properties))

    restored = type(record).from_stored(record.name, record.description, stored)

    assert restored == record
    assert restored.properties == record.properties


@for_each_record
def test_properties_exclude_common_fields(record):
    assert not {"name", "description", "path", "kind"} & record.properties.keys()


def test_properties_omit_none_and_keep_empty_values():
    assert SampleRecord(name="a").properties == {"size": 0}
    assert SampleRecord(name="a", color="").properties == {"color": "", "size": 0}


def test_from_stored_ignores_unknown_properties():
    restored = SampleRecord.from_stored(
        "a", "", {"size": 2, "weight": 5, "path": "$.x", "name": "b"}
    )

    assert restored == SampleRecord(name="a", size=2)
    assert restored.path == "$"


def test_security_scheme_properties_include_its_fields():
    scheme = A2ASecurityScheme(
        name="http", key="k", type="http", fields={"scheme": "x"}
    )

    assert scheme.properties == {
        "key": "k",
        "type": "http",
        "method": "",
        "scheme": "x",
    }


def test_equality_ignores_path():
    assert SampleRecord(name="a", path="$.one") == SampleRecord(name="a", path="$.two")


def test_records_are_frozen():
    with pytest.raises(FrozenInstanceError):
        SampleRecord(name="a").name = "b"


@pytest.mark.parametrize("name", ["", "   ", "\n"])
def test_capability_name_is_required(name):
    assert list(SampleRecord(name=name).validate()) == ["must have a name"]


def test_capability_limits_are_inclusive():
    assert not list(SampleRecord(name="n" * 500, description="d" * 20_000).validate())


def test_capability_over_limits_reports_lengths():
    record = SampleRecord(name="n" * 501, description="d" * 20_001)

    assert list(record.validate()) == [
        "name must have at most 500 characters, but has 501",
        "description must have at most 20000 characters, but has 20001",
    ]


def test_disambiguated_name_defaults_to_name():
    assert SampleRecord(name="a").disambiguated_name() == "a"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (A2ASkill(name="Find", id="f1"), "Find (f1)"),
        (A2AInterface(name="u…", url="u", binding="GRPC"), "u#GRPC"),
        (A2ASecurityScheme(name="http", key="staff"), "http (staff)"),
        (A2ASignature(name="ES256", algorithm="ES256", key_id="k1"), "ES256:k1"),
    ],
)
def test_disambiguated_name_adds_identifying_property(record, expected):
    assert record.disambiguated_name() == expected


@pytest.mark.parametrize("record", MINIMAL_RECORDS, ids=lambda record: record.kind)
def test_disambiguated_name_without_property_is_the_name(record):
    assert record.disambiguated_name() == "minimal"


def test_agent_defaults_are_empty():
    agent = build_agent()

    assert agent.name == agent.description == agent.version == ""
    assert agent.spec_version == ""
    assert (agent.provider, agent.capabilities) == (None, ())
    assert ProviderRecord("Example") == ProviderRecord("Example", team="", url="")


def test_display_name_prefers_agent_then_capability_then_endpoint():
    capabilities = SampleRecord(name="First"), SampleRecord(name="Second")

    assert build_agent(name="Own", capabilities=capabilities).display_name == "Own"
    assert build_agent(capabilities=capabilities).display_name == "First"
    assert build_agent().display_name == "https://a.example/"


def test_display_name_skips_blank_names():
    assert (
        build_agent(name="  ", capabilities=(SampleRecord(name="First"),)).display_name
        == "First"
    )
    assert build_agent(endpoint="").display_name == ""


def test_display_name_from_long_endpoint_is_cut():
    assert build_agent(endpoint="e" * 2_000).display_name == "e" * 300


LIMITS = {
    "name": ("$.name", 300),
    "description": ("$.description", 20_000),
    "version": ("$.version", 255),
    "spec_version": ("$.protocolVersion", 255),
    "endpoint": ("$.url", 2_000),
}


@pytest.mark.parametrize("field", LIMITS)
def test_agent_text_over_limit_is_reported_with_path(field):
    path, limit = LIMITS[field]

    assert not list(build_agent(**{field: "x" * limit}).validate())
    assert list(build_agent(**{field: "x" * (limit + 1)}).validate()) == [
        (path, f"must have at most {limit} characters, but has {limit + 1}")
    ]


def test_provider_name_over_limit_is_reported():
    valid = build_agent(provider=ProviderRecord("p" * 300))
    invalid = replace(valid, provider=ProviderRecord("p" * 301))

    assert not list(valid.validate())
    assert [path for path, _ in invalid.validate()] == ["$.provider"]


def test_every_text_over_its_limit_is_reported():
    agent = build_agent(name="n" * 301, version="v" * 256)

    assert [path for path, _ in agent.validate()] == ["$.name", "$.version"]
