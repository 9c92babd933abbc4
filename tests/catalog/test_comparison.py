import pytest

from catalog.comparison import NotComparable, compare
from catalog.health.status import record_probe
from catalog.models import CatalogEntry
from tests.factories import CapabilityFactory, CatalogEntryFactory
from tests.probes import failure, success

pytestmark = pytest.mark.django_db


def add_features(entry, **features):
    for name, value in features.items():
        CapabilityFactory(
            agent_type=entry.agent_type,
            kind="agent.feature",
            name=name.replace("__", "."),
            properties={"value": value},
        )


def add_capabilities(entry, *names, kind="mcp.tool"):
    for name in names:
        CapabilityFactory(agent_type=entry.agent_type, kind=kind, name=name)


def iter_rows(comparison):
    return (row for section in comparison.sections for row in section.rows)


def get_values(comparison, name):
    (row,) = [row for row in iter_rows(comparison) if row.name == name]
    return row.values


@pytest.fixture
def pair():
    return CatalogEntryFactory.create_batch(2)


def test_feature_values_distinguish_yes_no_and_undeclared(pair):
    first, second = pair
    add_features(first, transport__streaming=True, reasoning__supported=False)
    add_features(second, transport__streaming=False)
    comparison = compare([first.pk, second.pk])

    assert get_values(comparison, "transport.streaming") == [True, False]
    assert get_values(comparison, "reasoning.supported") == [False, None]


def get_names(keys):
    return [name for _, name in keys]


def test_capability_of_several_agents_is_neither_common_nor_unique():
    first, second, third = CatalogEntryFactory.create_batch(3)
    for entry in (first, second, third):
        add_capabilities(entry, "all")
    add_capabilities(first, "shared", "unique")
    add_capabilities(second, "shared")
    comparison = compare([first.pk, second.pk, third.pk])

    assert get_names(comparison.common) == ["all"]
    ((key, agents),) = comparison.shared
    assert key == ("mcp.tool", "shared")
    assert [agent.entry for agent in agents] == [first, second]
    assert get_names(comparison.unique[first.pk]) == ["unique"]
    assert comparison.unique[second.pk] == comparison.unique[third.pk] == []


def test_tools_of_different_protocols_are_compared_by_name(pair):
    first, second = pair
    add_capabilities(first, "add_note", kind="mcp.tool")
    add_capabilities(second, "add_note", kind="agui.tool")
    add_capabilities(first, "same name", kind="mcp.prompt")
    add_capabilities(second, "same name", kind="a2a.skill")
    comparison = compare([first.pk, second.pk])

    assert comparison.common == [("mcp.tool", "add_note")]
    assert comparison.unique[first.pk] == [("mcp.prompt", "same name")]
    assert comparison.unique[second.pk] == [("a2a.skill", "same name")]


def test_lists_with_same_items_do_not_differ(pair):
    first, second = pair
    add_features(first, output__supportedMimeTypes=["a/b", "c/d"])
    add_features(second, output__supportedMimeTypes=["c/d", "a/b"])
    comparison = compare([first.pk, second.pk])

    (row,) = [row for row in iter_rows(comparison) if "Mime" in row.name]
    assert not row.differs


def test_agents_keep_the_requested_order(pair):
    first, second = pair
    comparison = compare([second.pk, first.pk])

    assert [agent.entry for agent in comparison.agents] == [second, first]


def test_undeclared_features_have_no_row(pair):
    comparison = compare([entry.pk for entry in pair])

    assert [section.label for section in comparison.sections] == ["Identity"]


def test_custom_and_protocol_features_have_their_own_sections(pair):
    first, second = pair
    add_features(first, custom__billing__tier="gold", mcp__transports=["stdio"])
    comparison = compare([first.pk, second.pk])

    assert [(section.name, section.label) for section in comparison.sections[1:]] == [
        ("custom", "Custom"),
        ("protocol", "Protocol-specific"),
    ]
    assert [row.label for row in comparison.sections[1].rows] == ["billing.tier"]
    assert get_values(comparison, "mcp.transports") == [["stdio"], None]


def test_identity_section_has_catalog_fields_and_declared_features(pair):
    first, second = pair
    add_features(first, identity__type="langgraph", identity__metadata__team="blue")
    comparison = compare([first.pk, second.pk])

    assert [
        row.name.removeprefix("identity.") for row in comparison.sections[0].rows
    ] == [
        *("protocol", "description", "version", "specVersion", "provider", "endpoint"),
        *("type", "metadata.team"),
    ]
    assert get_values(comparison, "identity.endpoint") == [
        first.agent_type.endpoint,
        second.agent_type.endpoint,
    ]
    assert get_values(comparison, "identity.type") == ["langgraph", None]


def test_row_differs_only_if_two_declared_values_differ(pair):
    first, second = pair
    add_features(first, transport__streaming=True, reasoning__supported=True)
    add_features(second, transport__streaming=False)
    comparison = compare([entry.pk for entry in pair])
    rows = {row.name: row for row in iter_rows(comparison)}

    assert rows["transport.streaming"].differs
    assert not rows["reasoning.supported"].differs


def test_tool_count_is_undeclared_without_tools(pair):
    first, second = pair
    add_capabilities(first, "add", "remove")
    comparison = compare([first.pk, second.pk])

    assert get_values(comparison, "tools.items") == [2, None]


def test_sub_agents_are_counted(pair):
    first, second = pair
    add_capabilities(second, "porter", "barkeeper", "cook", kind="agui.subagent")
    comparison = compare([first.pk, second.pk])

    assert get_values(comparison, "multiAgent.subagents") == [None, 3]


def test_common_and_unique_capabilities_are_listed(pair):
    first, second = pair
    third = CatalogEntryFactory()
    add_capabilities(first, "add", "remove")
    add_capabilities(second, "add", "search")
    add_capabilities(third, "add", "search")
    comparison = compare([first.pk, second.pk, third.pk])

    assert comparison.common == [("mcp.tool", "add")]
    assert comparison.unique[first.pk] == [("mcp.tool", "remove")]
    assert comparison.unique[second.pk] == []


def test_same_name_in_different_kinds_is_not_common(pair):
    first, second = pair
    add_capabilities(first, "add")
    add_capabilities(second, "add", kind="a2a.skill")

    assert compare([first.pk, second.pk]).common == []


def test_comparison_includes_uptimes(pair):
    first, second = pair
    record_probe(first, success())
    record_probe(second, failure())
    comparison = compare([first.pk, second.pk])

    assert comparison.agent_uptimes == [1.0, 0.0]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_compare_rejects_too_few_and_too_many_agents(count):
    entries = CatalogEntryFactory.create_batch(count)

    with pytest.raises(NotComparable):
        compare([entry.pk for entry in entries])


def test_compare_rejects_same_agent_twice(pair):
    with pytest.raises(NotComparable):
        compare([pair[0].pk, pair[0].pk])


def test_compare_with_unknown_entry_raises_does_not_exist(pair):
    deleted_id = pair[1].pk
    pair[1].delete()

    with pytest.raises(CatalogEntry.DoesNotExist):
        compare([pair[0].pk, deleted_id])
