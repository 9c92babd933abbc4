import pytest

from capabilities.problems import Problem

from .a2a_reading import (
    RPC,
    card,
    errors,
    offers,
    properties,
    read,
    sample,
    skill,
    v1_card,
    warnings,
)


def test_a_skill_says_what_it_is_and_what_it_takes():
    [_, detect] = offers(sample("v02_translator"), "a2a.skill")

    assert detect.name == "Detect the language"
    assert detect.description == "Names the language of a text"
    assert detect.properties == {
        "id": "detect",
        "tags": ["language"],
        "input_modes": ["text/plain"],
        "output_modes": ["application/json"],
    }


@pytest.mark.parametrize("modes", [{}, {"inputModes": [], "outputModes": None}])
def test_a_skill_without_modes_has_those_of_the_card(modes):
    document = card(
        defaultInputModes=["a/in"],
        defaultOutputModes=["a/out"],
        skills=[skill(**modes)],
    )

    [found] = properties(document, "a2a.skill")
    assert found["input_modes"] == ["a/in"]
    assert found["output_modes"] == ["a/out"]


def test_without_default_modes_a_skill_has_none():
    document = card(skills=[skill()], defaultInputModes=None, defaultOutputModes=None)

    [found] = properties(document, "a2a.skill")
    assert (found["input_modes"], found["output_modes"]) == ([], [])
    assert warnings(document) == ["$.defaultInputModes", "$.defaultOutputModes"]


@pytest.mark.parametrize(
    ("tags", "kept", "told"),
    [
        (["a", "b"], ["a", "b"], []),
        ([], [], []),
        (None, [], ["$.skills[0].tags"]),
        ("a, b", [], ["$.skills[0].tags"]),
        (["a", 5, "b"], ["a", "b"], ["$.skills[0].tags[1]"]),
    ],
)
def test_tags_are_a_list_of_texts_always(tags, kept, told):
    document = card(skills=[skill(tags=tags)])

    assert properties(document, "a2a.skill")[0]["tags"] == kept
    assert warnings(document) == told


def test_skills_that_share_a_name_are_told_apart_by_id():
    found = [skill(id="one"), skill(id="two"), skill(id=""), skill(id="")]

    names = [each.name for each in offers(card(skills=found), "a2a.skill")]
    assert names == ["Skill", "Skill (two)", "Skill (2)", "Skill (3)"]


@pytest.mark.parametrize("skills", [None, {}, "skills", 5, {"a": {"name": "b"}}])
def test_skills_must_be_a_list(skills):
    assert read(card(skills=skills)).errors == [
        Problem("$.skills", "must be a list of objects")
    ]


def test_a_card_without_skills_at_all_is_refused():
    document = v1_card(RPC)
    del document["skills"]

    assert errors(document) == ["$.skills"]


def test_a_card_may_have_an_empty_list_of_skills():
    assert read(card(skills=[])).valid


def test_every_skill_needs_a_name():
    reading = read(card(skills=[skill(), skill(name=""), skill(name=5)]))

    message = "must be a non-empty string"
    assert Problem("$.skills[1].name", message) in reading.errors
    assert Problem("$.skills[2].name", message) in reading.errors
    assert not any("[0]" in problem.path for problem in reading.errors)
    assert not reading.warnings
