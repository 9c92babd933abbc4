"""No member of a listed item is left out of its capability without a warning."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.parsers import try_parse
from capabilities.problems import member_path
from capabilities.protocols.a2a.parser import SKILL_MEMBERS
from capabilities.protocols.agui.declarations import ITEM_MEMBERS, TOOLS_KEY_PATH
from capabilities.protocols.mcp.primitives import (
    PROMPT_MEMBERS,
    RESOURCE_MEMBERS,
    TOOL_MEMBERS,
)

EMPTY_VALUES = (None, "", [], {})


@dataclass(frozen=True)
class ItemList:
    """A list of items in a definition of a protocol."""

    protocol: str
    path: str
    members: set[str]

    def build_definition(self, item: Any) -> bytes:
        *parents, key = self.path.split(".")
        members: dict[str, Any] = {key: [{"name": "item", **item}]}
        for parent in reversed(parents):
            members = {parent: members}
        identity = {} if self.protocol == "agui" else {"name": "agent"}
        url = "https://agent.example/run"
        return json.dumps({**identity, "url": url, **members}).encode()


ITEM_LISTS = [
    # Examples of skills are prompts: they stay in the definition only.
    ItemList("a2a", "skills", SKILL_MEMBERS - {"examples"}),
    ItemList("mcp", "tools", TOOL_MEMBERS),
    ItemList("mcp", "resources", RESOURCE_MEMBERS),
    ItemList("mcp", "resourceTemplates", RESOURCE_MEMBERS),
    ItemList("mcp", "prompts", PROMPT_MEMBERS),
    ItemList("agui", "tools.items", ITEM_MEMBERS[TOOLS_KEY_PATH]),
    ItemList("agui", "multiAgent.subagents", {"name", "description"}),
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("ab"),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "title"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def is_at_or_below(path, parent):
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))


def find_lost_members(item_list, item):
    """Return the members of an item that are neither stored nor in a problem."""
    result = try_parse(item_list.build_definition(item), item_list.protocol)
    path = f"$.{item_list.path}[0]"
    problem_paths = [problem.path for problem in (*result.errors, *result.warnings)]
    stored: list[Any] = []
    for capability in result.record.capabilities if result.record else ():
        if capability.path == path:
            stored += [capability.description, *capability.properties.values()]
    return {
        key
        for key, value in item.items()
        if value not in EMPTY_VALUES
        and value not in stored
        and not any(
            is_at_or_below(problem_path, member_path(path, key))
            for problem_path in problem_paths
        )
    }


@pytest.mark.parametrize("item_list", ITEM_LISTS, ids=lambda item_list: item_list.path)
def test_no_member_of_an_item_is_lost_without_warning_t15(item_list):
    names = st.sampled_from(sorted(item_list.members - {"name"})) | st.text("xy_")

    @settings(max_examples=100, deadline=None)
    @given(st.dictionaries(names, json_values, max_size=5))
    def check(item):
        assert find_lost_members(item_list, item) == set()

    check()


@pytest.mark.parametrize("item_list", ITEM_LISTS, ids=lambda item_list: item_list.path)
def test_valid_and_unknown_members_are_stored_or_warned_about(item_list):
    values = ["text", ["text"], [{"src": "https://a.example"}], {"x": 1}, True, 2]
    for key in {*item_list.members, "unknown"} - {"name"}:
        for value in values:
            assert find_lost_members(item_list, {key: value}) == set(), (key, value)
