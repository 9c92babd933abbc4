import pytest

from capabilities.problems import Problem

from .a2a_cards import (
    JSONRPC_INTERFACE,
    build_card,
    build_skill,
    build_v1_card,
    get_capabilities,
    get_error_paths,
    get_names,
    get_properties,
    get_warning_paths,
    load_sample,
    parse_card,
)


def test_skill_keeps_description_tags_and_modes():
    [_, detect] = get_capabilities(load_sample("v02_translator"), "a2a.skill")

    assert detect.name == "Detect the language"
    assert detect.description == "Names the language of a text"
    assert detect.properties == {
        "id": "detect",
        "tags": ["language"],
        "input_modes": ["text/plain"],
        "output_modes": ["application/json"],
    }


@pytest.mark.parametrize("modes", [{}, {"inputModes": [], "outputModes": None}])
def test_skill_without_modes_inherits_default_modes(modes):
    document = build_card(
        defaultInputModes=["a/in"],
        defaultOutputModes=["a/out"],
        skills=[build_skill(**modes)],
    )

    [skill_properties] = get_properties(document, "a2a.skill")
    assert skill_properties["input_modes"] == ["a/in"]
    assert skill_properties["output_modes"] == ["a/out"]


def test_skill_without_default_modes_has_no_modes():
    document = build_card(
        skills=[build_skill()], defaultInputModes=None, defaultOutputModes=None
    )

    [skill_properties] = get_properties(document, "a2a.skill")
    assert (skill_properties["input_modes"], skill_properties["output_modes"]) == (
        [],
        [],
    )
    assert get_warning_paths(document) == [
        "$.defaultInputModes",
        "$.defaultOutputModes",
    ]


@pytest.mark.parametrize(
    ("tags", "expected_tags", "warning_paths"),
    [
        (["a", "b"], ["a", "b"], []),
        ([], [], []),
        (None, [], ["$.skills[0].tags"]),
        ("a, b", [], ["$.skills[0].tags"]),
        (["a", 5, "b"], ["a", "b"], ["$.skills[0].tags[1]"]),
    ],
)
def test_tags_are_always_a_list_of_strings(tags, expected_tags, warning_paths):
    document = build_card(skills=[build_skill(tags=tags)])

    assert get_properties(document, "a2a.skill")[0]["tags"] == expected_tags
    assert get_warning_paths(document) == warning_paths


def test_skills_with_same_name_get_id_in_name():
    skills = [
        build_skill(id="one"),
        build_skill(id="two"),
        build_skill(id=""),
        build_skill(id=""),
    ]

    names = get_names(build_card(skills=skills), "a2a.skill")
    assert names == ["Skill", "Skill (two)", "Skill (2)", "Skill (3)"]


@pytest.mark.parametrize("skills", [None, {}, "skills", 5, {"a": {"name": "b"}}])
def test_skills_that_are_not_a_list_are_an_error(skills):
    assert parse_card(build_card(skills=skills)).errors == [
        Problem("$.skills", "must be a list of objects")
    ]


def test_card_without_skills_member_is_rejected():
    document = build_v1_card(JSONRPC_INTERFACE)
    del document["skills"]

    assert get_error_paths(document) == ["$.skills"]


def test_card_with_empty_skills_is_valid():
    assert parse_card(build_card(skills=[])).is_valid


def test_skill_name_is_required():
    result = parse_card(
        build_card(skills=[build_skill(), build_skill(name=""), build_skill(name=5)])
    )

    message = "must be a non-empty string"
    assert Problem("$.skills[1].name", message) in result.errors
    assert Problem("$.skills[2].name", message) in result.errors
    assert not any("[0]" in problem.path for problem in result.errors)
    assert not result.warnings
