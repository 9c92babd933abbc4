"""From the flat list to groups; nothing here touches the database."""

from catalog.web.views.grouping import group_rows


def offer(name="Translate", kind="a2a.skill", agent="Polyglot", **members):
    stated = {"kind": kind, "name": name, "agent_name": agent}
    return stated | {"description": "", "tags": None} | members


def told(groups):
    return [(g.kind, g.name, [o["agent_name"] for o in g.offers]) for g in groups]


def test_offers_of_one_kind_and_name_are_one_group():
    items = [offer(agent="Babel"), offer(agent="Polyglot")]

    assert told(group_rows(items)) == [
        ("a2a.skill", "Translate", ["Babel", "Polyglot"])
    ]


def test_one_name_in_two_kinds_is_two_groups():
    groups = group_rows([offer("search"), offer("search", kind="mcp.tool")])

    assert [group.kind for group in groups] == ["a2a.skill", "mcp.tool"]
    assert groups[0].slug != groups[1].slug


def test_names_are_taken_letter_by_letter():
    assert len(group_rows([offer("search"), offer("Search"), offer("search ")])) == 3


def test_kind_and_name_never_run_into_one_another():
    one, other = group_rows([offer("b::c", kind="a"), offer("c", kind="a::b")])

    assert (one.name, other.name) == ("b::c", "c")


def test_groups_keep_the_order_of_first_appearance():
    items = [offer("b", agent="1"), offer("a", agent="1"), offer("b", agent="2")]

    assert told(group_rows(items)) == [
        ("a2a.skill", "b", ["1", "2"]),
        ("a2a.skill", "a", ["1"]),
    ]


def test_nothing_is_no_groups():
    assert group_rows([]) == group_rows([], before=offer()) == []


def test_a_group_whose_beginning_stood_on_the_page_before_is_continued():
    first, second = group_rows([offer("a"), offer("b")], before=offer("a"))

    assert (first.continued, second.continued) == (True, False)
    assert len(first.offers) == 1


def test_a_group_that_begins_here_is_not():
    first, second = group_rows([offer("b"), offer("c")], before=offer("a"))

    assert not first.continued
    assert not second.continued


def test_nor_one_of_another_kind_by_the_same_name():
    [group] = group_rows([offer("a", kind="mcp.tool")], before=offer("a"))

    assert not group.continued


def test_nor_one_that_only_comes_again_further_down():
    groups = group_rows([offer("b"), offer("a")], before=offer("a"))

    assert [group.continued for group in groups] == [False, False]


def test_halves_loaded_together_are_one_group():
    items = [offer(agent=f"Agent {n}") for n in range(10)]
    [group] = group_rows(items)

    assert len(group.offers) == 10
    assert not group.continued


def test_a_group_describes_itself_in_the_words_of_its_first_offer():
    [group] = group_rows([offer(description="One"), offer(description="Two")])

    assert group.description == "One"


def test_five_tags_are_shown_and_the_others_counted():
    [group] = group_rows([offer(tags=[f"t{n}" for n in range(7)])])

    assert group.tags == ["t0", "t1", "t2", "t3", "t4"]
    assert group.more_tags == 2


def test_few_tags_are_all_shown_and_none_are_none():
    few, none = group_rows([offer("a", tags=["t"]), offer("b", tags=None)])

    assert (few.tags, few.more_tags) == (["t"], 0)
    assert (none.tags, none.more_tags) == ([], 0)
