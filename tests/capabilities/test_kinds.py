from dataclasses import fields

import pytest

from capabilities.features import FEATURE_KIND
from capabilities.kinds import Kind, discoverable_kinds, kind_choices, kinds
from capabilities.protocols.a2a import A2AParser
from capabilities.records import CapabilityRecord

KINDS = [FEATURE_KIND, *A2AParser.kinds]
for_each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.slug)


def build_kind(slug: str, *, discoverable: bool) -> Kind:
    return Kind(slug, slug.title(), "test", CapabilityRecord, discoverable)


def test_discoverable_kinds_are_sorted_and_exclude_hidden_ones():
    before = discoverable_kinds()
    discoverable = (
        build_kind("zz.visible", discoverable=True),
        build_kind("aa.visible", discoverable=True),
    )

    with kinds.temporarily(*discoverable, build_kind("mm.hidden", discoverable=False)):
        assert discoverable_kinds() == sorted([*before, "aa.visible", "zz.visible"])


def test_kind_choices_have_every_kind_with_its_label():
    with kinds.temporarily(build_kind("test.sample", discoverable=False)):
        assert ("test.sample", "Test.Sample") in kind_choices()
        assert len(kind_choices()) == len(kinds)


def test_skill_is_the_only_discoverable_a2a_kind():
    assert [kind.slug for kind in KINDS if kind.discoverable] == ["a2a.skill"]


def test_a2a_parser_has_five_kinds():
    assert {kind.slug for kind in A2AParser.kinds} == {
        "a2a.skill",
        "a2a.interface",
        "a2a.security_scheme",
        "a2a.extension",
        "a2a.signature",
    }


def test_skill_kind_has_list_and_search_properties():
    skill = A2AParser.kinds[0]

    assert skill.list_properties == ("tags", "input_modes", "output_modes")
    assert skill.search_properties == ("tags",)


@for_each_kind
def test_kind_slug_equals_record_class_kind(kind):
    assert kind.record_class.kind == kind.slug


@for_each_kind
def test_kind_slug_starts_with_its_protocol(kind):
    expected = "any" if kind is FEATURE_KIND else "a2a"

    assert kind.protocol == expected
    assert kind.slug.startswith("agent." if kind is FEATURE_KIND else "a2a.")


@for_each_kind
def test_list_and_search_properties_are_record_fields(kind):
    field_names = {field.name for field in fields(kind.record_class)}

    assert {*kind.list_properties, *kind.search_properties} <= field_names
