import pytest

from catalog.comparison import NotComparable, compare
from catalog.health.status import record_probe
from catalog.models import CatalogEntry
from tests.factories import CapabilityFactory, CatalogEntryFactory
from tests.probes import failed, well

pytestmark = pytest.mark.django_db


def declare(entry, **features):
    for name, value in features.items():
        CapabilityFactory(
            agent_type=entry.agent_type,
            kind="agent.feature",
            name=name.replace("__", "."),
            properties={"value": value},
        )


def offer(entry, *names, kind="mcp.tool"):
    for name in names:
        CapabilityFactory(agent_type=entry.agent_type, kind=kind, name=name)


def values(comparison, name):
    (row,) = [r for s in comparison.sections for r in s.rows if r.name == name]
    return row.values


@pytest.fixture
def pair():
    return CatalogEntryFactory.create_batch(2)


def test_yes_no_and_not_declared_are_three_things(pair):
    first, second = pair
    declare(first, transport__streaming=True, reasoning__supported=False)
    declare(second, transport__streaming=False)
    told = compare([first.pk, second.pk])

    assert values(told, "transport.streaming") == [True, False]
    assert values(told, "reasoning.supported") == [False, None]


def names(keys):
    return [name for _, name in keys]


def test_what_several_have_and_not_all_is_neither_common_nor_only_here():
    first, second, third = CatalogEntryFactory.create_batch(3)
    for entry in (first, second, third):
        offer(entry, "all")
    offer(first, "some", "mine")
    offer(second, "some")
    told = compare([first.pk, second.pk, third.pk])

    assert names(told.common) == ["all"]
    ((key, having),) = told.shared
    assert key == ("mcp.tool", "some")
    assert [side.entry for side in having] == [first, second]
    assert names(told.unique[first.pk]) == ["mine"]
    assert told.unique[second.pk] == told.unique[third.pk] == []


def test_a_tool_is_a_tool_in_every_protocol(pair):
    first, second = pair
    offer(first, "add_note", kind="mcp.tool")
    offer(second, "add_note", kind="agui.tool")
    offer(first, "same name", kind="mcp.prompt")
    offer(second, "same name", kind="a2a.skill")
    told = compare([first.pk, second.pk])

    assert told.common == [("mcp.tool", "add_note")]
    assert told.unique[first.pk] == [("mcp.prompt", "same name")]
    assert told.unique[second.pk] == [("a2a.skill", "same name")]


def test_lists_that_hold_the_same_do_not_differ(pair):
    first, second = pair
    declare(first, output__supportedMimeTypes=["a/b", "c/d"])
    declare(second, output__supportedMimeTypes=["c/d", "a/b"])
    told = compare([first.pk, second.pk])

    (row,) = [r for s in told.sections for r in s.rows if "Mime" in r.name]
    assert not row.differs


def test_the_order_is_the_askers(pair):
    first, second = pair
    told = compare([second.pk, first.pk])

    assert [agent.entry for agent in told.agents] == [second, first]


def test_what_nobody_declares_has_no_line(pair):
    told = compare([entry.pk for entry in pair])

    assert [section.label for section in told.sections] == ["Identity"]


def test_what_no_standard_names_stands_apart(pair):
    first, second = pair
    declare(first, custom__billing__tier="gold", mcp__transports=["stdio"])
    told = compare([first.pk, second.pk])

    assert [(section.name, section.label) for section in told.sections[1:]] == [
        ("custom", "Custom"),
        ("protocol", "Protocol-specific"),
    ]
    assert [row.label for row in told.sections[1].rows] == ["billing.tier"]
    assert values(told, "mcp.transports") == [["stdio"], None]


def test_identity_is_what_the_catalog_knows_and_what_they_declare(pair):
    first, second = pair
    declare(first, identity__type="langgraph", identity__metadata__team="blue")
    told = compare([first.pk, second.pk])

    assert [row.name.removeprefix("identity.") for row in told.sections[0].rows] == [
        *("protocol", "description", "version", "specVersion", "provider", "endpoint"),
        *("type", "metadata.team"),
    ]
    assert values(told, "identity.endpoint") == [
        first.agent_type.endpoint,
        second.agent_type.endpoint,
    ]
    assert values(told, "identity.type") == ["langgraph", None]


def test_only_what_two_say_differently_differs(pair):
    first, second = pair
    declare(first, transport__streaming=True, reasoning__supported=True)
    declare(second, transport__streaming=False)
    told = compare([entry.pk for entry in pair])
    rows = {row.name: row for section in told.sections for row in section.rows}

    assert rows["transport.streaming"].differs
    assert not rows["reasoning.supported"].differs


def test_a_definition_without_tools_does_not_say_there_are_none(pair):
    first, second = pair
    offer(first, "add", "remove")
    told = compare([first.pk, second.pk])

    assert values(told, "tools.items") == [2, None]


def test_sub_agents_are_counted(pair):
    first, second = pair
    offer(second, "porter", "barkeeper", "cook", kind="agui.subagent")
    told = compare([first.pk, second.pk])

    assert values(told, "multiAgent.subagents") == [None, 3]


def test_what_they_share_and_what_only_one_has(pair):
    first, second = pair
    third = CatalogEntryFactory()
    offer(first, "add", "remove")
    offer(second, "add", "search")
    offer(third, "add", "search")
    told = compare([first.pk, second.pk, third.pk])

    assert told.common == [("mcp.tool", "add")]
    assert told.unique[first.pk] == [("mcp.tool", "remove")]
    assert told.unique[second.pk] == []


def test_the_same_name_of_another_kind_is_not_in_common(pair):
    first, second = pair
    offer(first, "add")
    offer(second, "add", kind="a2a.skill")

    assert compare([first.pk, second.pk]).common == []


def test_health_stands_beside(pair):
    first, second = pair
    record_probe(first, well())
    record_probe(second, failed())
    told = compare([first.pk, second.pk])

    assert told.agent_uptimes == [1.0, 0.0]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_too_few_and_too_many(count):
    entries = CatalogEntryFactory.create_batch(count)

    with pytest.raises(NotComparable):
        compare([entry.pk for entry in entries])


def test_nobody_is_compared_with_himself(pair):
    with pytest.raises(NotComparable):
        compare([pair[0].pk, pair[0].pk])


def test_one_that_is_not_there(pair):
    gone = pair[1].pk
    pair[1].delete()

    with pytest.raises(CatalogEntry.DoesNotExist):
        compare([pair[0].pk, gone])
