"""Tests that the features are exactly those of AG-UI's own models."""

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
from capabilities.protocols.agui.schema import build_capabilities_schema
from capabilities.spellings import LIST_KEY_PATHS

# By the name of the field's type in ag_ui.core.
SHAPES_BY_TYPE_NAME = {
    "bool": Shape.FLAG,
    "int": Shape.COUNT,
    "str": Shape.STRING,
    "typing.List[str]": Shape.STRING_LIST,
    "typing.Dict[str, typing.Any]": Shape.OBJECT,
}
# Read more leniently than the type in ag_ui.core: earlier revisions had any number.
LENIENT_SHAPES = {("execution", "maxExecutionTime"): Shape.NUMBER}


def iter_fields(model, parents=()):
    """Yield key path and type name of every field of a model and its submodels."""
    for name, field in model.model_fields.items():
        key_path = (*parents, field.alias or name)
        field_type = field.annotation.__args__[0]
        if isinstance(field_type, type) and issubclass(field_type, BaseModel):
            yield from iter_fields(field_type, key_path)
        else:
            yield (
                key_path,
                field_type.__name__
                if isinstance(field_type, type)
                else str(field_type),
            )


def test_every_ag_ui_field_has_a_feature_of_its_type():
    type_names = dict(iter_fields(AgentCapabilities))
    feature_type_names = {
        key_path: type_name
        for key_path, type_name in type_names.items()
        if key_path not in (*LIST_KEY_PATHS, ("custom",))
    }

    assert {
        key_path: SHAPES_BY_TYPE_NAME[type_name]
        for key_path, type_name in feature_type_names.items()
    } | LENIENT_SHAPES == {
        key_path: feature.shape for key_path, feature in FEATURES_BY_KEY_PATH.items()
    }
    assert set(LIST_KEY_PATHS) <= type_names.keys()


def test_categories_match_ag_ui_in_order():
    aliases = [
        field.alias or name for name, field in AgentCapabilities.model_fields.items()
    ]
    assert list(CATEGORY_NAMES) == aliases


@pytest.mark.parametrize(
    "category", FEATURE_CATEGORIES, ids=lambda category: category.name
)
def test_category_has_labeled_features_of_its_own(category):
    assert category.label
    assert category.features
    for feature in category.features:
        assert feature.key_path[0] == category.name
        assert feature.label


def test_schema_has_every_member_of_the_model():
    def check_members(schema, model, parents=()):
        for name, field in model.model_fields.items():
            key = field.alias or name
            assert key in schema["properties"], (*parents, key)
            inner_model = get_inner_model(field)
            if inner_model and schema["properties"][key]["type"] == "object":
                check_members(schema["properties"][key], inner_model, (*parents, key))

    def get_inner_model(field):
        types = [t for t in get_args(field.annotation) if isinstance(t, type)]
        return next((t for t in types if issubclass(t, BaseModel)), None)

    check_members(build_capabilities_schema(), AgentCapabilities)


def test_feature_labels_are_unique():
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
        (Shape.NUMBER, 5.0, 5),
        (Shape.NUMBER, 5.5, 5.5),
        (Shape.NUMBER, -0.5, None),
        (Shape.NUMBER, 2.0**53, None),
        (Shape.NUMBER, True, None),
        (Shape.NUMBER, "5", None),
        (Shape.STRING_LIST, [], []),
        (Shape.STRING_LIST, ["a", 1], ["a"]),
        (Shape.STRING_LIST, "a", None),
        (Shape.STRING, "", ""),
        (Shape.STRING, 1, None),
        (Shape.OBJECT, {}, {}),
        (Shape.OBJECT, [], None),
    ],
)
def test_clean_value_returns_only_values_of_the_shape(shape, value, expected):
    result = clean_value(shape, value)

    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("key_path", "model"),
    [(LIST_KEY_PATHS[0], Tool), (LIST_KEY_PATHS[1], SubagentInfo)],
)
def test_item_members_match_ag_ui_models(key_path, model):
    names = {field.alias or name for name, field in model.model_fields.items()}

    assert ITEM_MEMBERS[key_path] == names
