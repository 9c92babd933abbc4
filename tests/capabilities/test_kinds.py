from dataclasses import fields

import pytest

from capabilities.features import FEATURE
from capabilities.kinds import Kind, discoverable_kinds, kind_choices, kinds
from capabilities.protocols.a2a import A2AParser
from capabilities.records import CapabilityRecord

REAL = [FEATURE, *A2AParser.kinds]
each_kind = pytest.mark.parametrize("kind", REAL, ids=lambda kind: kind.slug)


def kind(slug: str, *, discoverable: bool) -> Kind:
    return Kind(slug, slug.title(), "test", CapabilityRecord, discoverable)


def test_only_discoverable_kinds_are_searched_for_and_they_are_sorted():
    before = discoverable_kinds()
    found = kind("zz.found", discoverable=True), kind("aa.found", discoverable=True)

    with kinds.temporarily(*found, kind("mm.hidden", discoverable=False)):
        assert discoverable_kinds() == sorted([*before, "aa.found", "zz.found"])


def test_choices_offer_every_kind_with_its_label():
    with kinds.temporarily(kind("test.thing", discoverable=False)):
        assert ("test.thing", "Test.Thing") in kind_choices()
        assert len(kind_choices()) == len(kinds)


def test_the_skill_is_all_that_people_search_for_in_a_card():
    assert [kind.slug for kind in REAL if kind.discoverable] == ["a2a.skill"]


def test_a_card_has_five_kinds_of_its_own():
    assert {kind.slug for kind in A2AParser.kinds} == {
        "a2a.skill",
        "a2a.interface",
        "a2a.security_scheme",
        "a2a.extension",
        "a2a.signature",
    }


def test_skills_list_tags_and_modes_and_are_searched_by_tags():
    skill = A2AParser.kinds[0]

    assert skill.list_properties == ("tags", "input_modes", "output_modes")
    assert skill.search_properties == ("tags",)


@each_kind
def test_a_kind_and_its_record_class_agree_on_the_slug(kind):
    assert kind.record_class.kind == kind.slug


@each_kind
def test_a_kind_belongs_to_the_protocol_its_slug_begins_with(kind):
    expected = "any" if kind is FEATURE else "a2a"

    assert kind.protocol == expected
    assert kind.slug.startswith("agent." if kind is FEATURE else "a2a.")


@each_kind
def test_what_a_kind_lists_and_searches_are_fields_of_its_record(kind):
    own = {field.name for field in fields(kind.record_class)}

    assert {*kind.list_properties, *kind.search_properties} <= own
