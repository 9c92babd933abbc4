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

FULL = [
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
BARE = [type(record)(name="bare") for record in FULL]
each_record = pytest.mark.parametrize(
    "record", [*FULL, *BARE], ids=lambda record: f"{record.kind}-{record.name}"
)


@dataclass(frozen=True, kw_only=True)
class Thing(CapabilityRecord):
    kind: ClassVar[str] = "test.thing"

    colour: str | None = None
    size: int = 0


def agent(**values):
    return AgentRecord(
        **{"protocol": "test", "endpoint": "https://a.example/"} | values
    )


def test_every_kind_of_a_card_is_among_the_records_tried_here():
    assert {kind.record for kind in KINDS} < {type(record) for record in FULL}


@each_record
def test_a_record_is_made_again_from_name_description_and_properties(record):
    stored = json.loads(json.dumps(record.properties))

    again = type(record).from_stored(record.name, record.description, stored)

    assert again == record
    assert again.properties == record.properties


@each_record
def test_properties_never_repeat_what_every_capability_has(record):
    assert not {"name", "description", "path", "kind"} & record.properties.keys()


def test_properties_leave_out_what_is_unset_and_keep_what_is_empty():
    assert Thing(name="a").properties == {"size": 0}
    assert Thing(name="a", colour="").properties == {"colour": "", "size": 0}


def test_properties_of_a_newer_version_do_not_stop_an_older_one():
    again = Thing.from_stored(
        "a", "", {"size": 2, "weight": 5, "path": "$.x", "name": "b"}
    )

    assert again == Thing(name="a", size=2)
    assert again.path == "$"


def test_a_scheme_keeps_every_field_beside_key_type_and_method():
    scheme = A2ASecurityScheme(
        name="http", key="k", type="http", fields={"scheme": "x"}
    )

    assert scheme.properties == {
        "key": "k",
        "type": "http",
        "method": "",
        "scheme": "x",
    }


def test_where_a_capability_stands_is_no_part_of_what_it_is():
    assert Thing(name="a", path="$.one") == Thing(name="a", path="$.two")


def test_records_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Thing(name="a").name = "b"


@pytest.mark.parametrize("name", ["", "   ", "\n"])
def test_a_capability_needs_a_name(name):
    assert list(Thing(name=name).validate()) == ["needs a name"]


def test_a_capability_may_just_reach_its_limits():
    assert not list(Thing(name="n" * 500, description="d" * 20_000).validate())


def test_a_capability_over_its_limits_says_by_how_much():
    thing = Thing(name="n" * 501, description="d" * 20_001)

    assert list(thing.validate()) == [
        "name must be at most 500 characters, is 501",
        "description must be at most 20000 characters, is 20001",
    ]


def test_the_telling_name_is_the_plain_one_unless_a_kind_knows_better():
    assert Thing(name="a").disambiguated_name() == "a"


@pytest.mark.parametrize(
    ("record", "telling"),
    [
        (A2ASkill(name="Find", id="f1"), "Find (f1)"),
        (A2AInterface(name="u…", url="u", binding="GRPC"), "u#GRPC"),
        (A2ASecurityScheme(name="http", key="staff"), "http (staff)"),
        (A2ASignature(name="ES256", algorithm="ES256", key_id="k1"), "ES256:k1"),
    ],
)
def test_the_telling_name_adds_what_sets_the_record_apart(record, telling):
    assert record.disambiguated_name() == telling


@pytest.mark.parametrize("record", BARE, ids=lambda record: record.kind)
def test_the_telling_name_adds_nothing_when_nothing_is_known(record):
    assert record.disambiguated_name() == "bare"


def test_what_an_agent_does_not_say_is_empty():
    silent = agent()

    assert silent.name == silent.description == silent.version == ""
    assert silent.spec_version == ""
    assert (silent.provider, silent.capabilities) == (None, ())
    assert ProviderRecord("Example") == ProviderRecord("Example", team="", url="")


def test_an_agent_is_shown_under_its_own_name_first():
    things = Thing(name="First"), Thing(name="Second")

    assert agent(name="Own", capabilities=things).display_name == "Own"
    assert agent(capabilities=things).display_name == "First"
    assert agent().display_name == "https://a.example/"


def test_a_blank_name_is_no_name_to_show():
    assert agent(name="  ", capabilities=(Thing(name="First"),)).display_name == "First"
    assert agent(endpoint="").display_name == ""


def test_a_name_borrowed_from_a_long_endpoint_is_cut_to_what_can_be_shown():
    assert agent(endpoint="e" * 2_000).display_name == "e" * 300


LIMITS = {
    "name": ("$.name", 300),
    "description": ("$.description", 20_000),
    "version": ("$.version", 255),
    "spec_version": ("$.protocolVersion", 255),
    "endpoint": ("$.url", 2_000),
}


@pytest.mark.parametrize("field", LIMITS)
def test_an_agent_s_texts_have_limits(field):
    path, limit = LIMITS[field]

    assert not list(agent(**{field: "x" * limit}).validate())
    assert list(agent(**{field: "x" * (limit + 1)}).validate()) == [
        (path, f"must be at most {limit} characters, is {limit + 1}")
    ]


def test_the_provider_s_name_has_a_limit_too():
    fit = agent(provider=ProviderRecord("p" * 300))
    unfit = replace(fit, provider=ProviderRecord("p" * 301))

    assert not list(fit.validate())
    assert [path for path, _ in unfit.validate()] == ["$.provider"]


def test_every_text_over_its_limit_is_told():
    unfit = agent(name="n" * 301, version="v" * 256)

    assert [path for path, _ in unfit.validate()] == ["$.name", "$.version"]
