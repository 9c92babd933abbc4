"""What we call standard is what AG-UI's own models have, no more and no less."""

from typing import get_args

import pytest
from ag_ui.core import AgentCapabilities, SubagentInfo, Tool
from pydantic import BaseModel

from capabilities.features import (
    CATEGORY_NAMES,
    FEATURE_CATEGORIES,
    FEATURES_BY_KEY_PATH,
    Shape,
    clean_value,
)
from capabilities.protocols.agui.declarations import ITEM_MEMBERS
from capabilities.protocols.agui.schema import capabilities_schema
from capabilities.spellings import LIST_KEY_PATHS

# By what ag_ui.core says of a field's type.
SHAPES = {
    "bool": Shape.FLAG,
    "int": Shape.COUNT,
    "str": Shape.STRING,
    "typing.List[str]": Shape.STRING_LIST,
    "typing.Dict[str, typing.Any]": Shape.OBJECT,
}


def fields(model, at=()):
    """Every field below a model with the name of its type."""
    for name, field in model.model_fields.items():
        key_path = (*at, field.alias or name)
        inner = field.annotation.__args__[0]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from fields(inner, key_path)
        else:
            yield key_path, inner.__name__ if isinstance(inner, type) else str(inner)


def test_every_field_of_the_protocol_is_known_by_its_type():
    theirs = dict(fields(AgentCapabilities))
    plain = {
        s: kind for s, kind in theirs.items() if s not in (*LIST_KEY_PATHS, ("custom",))
    }

    assert {key_path: SHAPES[kind] for key_path, kind in plain.items()} == {
        key_path: feature.shape for key_path, feature in FEATURES_BY_KEY_PATH.items()
    }
    assert set(LIST_KEY_PATHS) <= theirs.keys()


def test_the_categories_are_those_of_the_protocol_in_its_order():
    aliases = [
        field.alias or name for name, field in AgentCapabilities.model_fields.items()
    ]
    assert list(CATEGORY_NAMES) == aliases


@pytest.mark.parametrize(
    "category", FEATURE_CATEGORIES, ids=lambda category: category.name
)
def test_a_category_has_features_of_its_own_each_with_a_label(category):
    assert category.label
    assert category.features
    for feature in category.features:
        assert feature.key_path[0] == category.name
        assert feature.label


def test_the_schema_has_every_member_of_the_model():
    """In AG-UI's own spelling; the seed's beside it are ours to add."""

    def known(schema, model, at=()):
        for name, field in model.model_fields.items():
            key = field.alias or name
            assert key in schema["properties"], (*at, key)
            inner = inner_model(field)
            if inner and schema["properties"][key]["type"] == "object":
                known(schema["properties"][key], inner, (*at, key))

    def inner_model(field):
        found = [t for t in get_args(field.annotation) if isinstance(t, type)]
        return next((t for t in found if issubclass(t, BaseModel)), None)

    known(capabilities_schema(), AgentCapabilities)


def test_labels_tell_features_apart_even_without_their_category():
    labels = [feature.label for feature in FEATURES_BY_KEY_PATH.values()]

    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("shape", "value", "expected"),
    [
        (Shape.FLAG, False, False),
        (Shape.FLAG, 0, None),
        (Shape.FLAG, "true", None),
        (Shape.COUNT, 0, 0),
        (Shape.COUNT, 5.0, 5),
        (Shape.COUNT, 5.5, None),
        (Shape.COUNT, -1, None),
        (Shape.COUNT, 2**53, None),
        (Shape.COUNT, True, None),
        (Shape.COUNT, "5", None),
        (Shape.STRING_LIST, [], []),
        (Shape.STRING_LIST, ["a", 1], ["a"]),
        (Shape.STRING_LIST, "a", None),
        (Shape.STRING, "", ""),
        (Shape.STRING, 1, None),
        (Shape.OBJECT, {}, {}),
        (Shape.OBJECT, [], None),
    ],
)
def test_only_what_has_the_right_shape_is_sound(shape, value, expected):
    result = clean_value(shape, value)

    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("key_path", "model"),
    [(LIST_KEY_PATHS[0], Tool), (LIST_KEY_PATHS[1], SubagentInfo)],
)
def test_a_tool_and_a_sub_agent_have_the_members_of_the_models(key_path, model):
    names = {field.alias or name for name, field in model.model_fields.items()}

    assert ITEM_MEMBERS[key_path] == names
