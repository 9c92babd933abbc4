from catalog.web.views.grouping import group_rows


def build_row(name="Translate", kind="a2a.skill", agent="Polyglot", **members):
    row = {"kind": kind, "name": name, "agent_name": agent}
    return row | {"description": "", "tags": None} | members


def summarize(groups):
    """Return the kind, the name and the agents' names of each group."""
    return [
        (group.kind, group.name, [row["agent_name"] for row in group.rows])
        for group in groups
    ]


def test_rows_with_same_kind_and_name_form_one_group():
    rows = [build_row(agent="Babel"), build_row(agent="Polyglot")]

    assert summarize(group_rows(rows)) == [
        ("a2a.skill", "Translate", ["Babel", "Polyglot"])
    ]


def test_same_name_in_two_kinds_forms_two_groups():
    groups = group_rows([build_row("search"), build_row("search", kind="mcp.tool")])

    assert [group.kind for group in groups] == ["a2a.skill", "mcp.tool"]
    assert groups[0].html_id != groups[1].html_id


def test_names_that_differ_in_case_or_space_form_separate_groups():
    rows = [build_row("search"), build_row("Search"), build_row("search ")]

    assert len(group_rows(rows)) == 3


def test_separator_in_kind_or_name_does_not_merge_groups():
    first, second = group_rows(
        [build_row("b::c", kind="a"), build_row("c", kind="a::b")]
    )

    assert (first.name, second.name) == ("b::c", "c")


def test_groups_are_in_order_of_first_appearance():
    rows = [
        build_row("b", agent="1"),
        build_row("a", agent="1"),
        build_row("b", agent="2"),
    ]

    assert summarize(group_rows(rows)) == [
        ("a2a.skill", "b", ["1", "2"]),
        ("a2a.skill", "a", ["1"]),
    ]


def test_group_rows_of_empty_list_returns_no_groups():
    assert group_rows([]) == group_rows([], previous=build_row()) == []


def test_first_group_is_continued_if_previous_row_belongs_to_it():
    rows = [build_row("a"), build_row("b")]
    first, second = group_rows(rows, previous=build_row("a"))

    assert (first.is_continued, second.is_continued) == (True, False)
    assert len(first.rows) == 1


def test_first_group_is_not_continued_if_previous_row_has_another_name():
    rows = [build_row("b"), build_row("c")]
    first, second = group_rows(rows, previous=build_row("a"))

    assert not first.is_continued
    assert not second.is_continued


def test_first_group_is_not_continued_if_previous_row_has_another_kind():
    [group] = group_rows([build_row("a", kind="mcp.tool")], previous=build_row("a"))

    assert not group.is_continued


def test_later_group_is_not_continued_even_if_previous_row_belongs_to_it():
    groups = group_rows([build_row("b"), build_row("a")], previous=build_row("a"))

    assert [group.is_continued for group in groups] == [False, False]


def test_group_loaded_completely_is_not_continued():
    rows = [build_row(agent=f"Agent {n}") for n in range(10)]
    [group] = group_rows(rows)

    assert len(group.rows) == 10
    assert not group.is_continued


def test_group_has_description_of_its_first_row():
    [group] = group_rows([build_row(description="One"), build_row(description="Two")])

    assert group.description == "One"


def test_group_shows_five_tags_and_counts_the_rest():
    [group] = group_rows([build_row(tags=[f"t{n}" for n in range(7)])])

    assert group.tags == ["t0", "t1", "t2", "t3", "t4"]
    assert group.hidden_tag_count == 2


def test_group_with_few_or_no_tags_hides_none():
    tagged, untagged = group_rows(
        [build_row("a", tags=["t"]), build_row("b", tags=None)]
    )

    assert (tagged.tags, tagged.hidden_tag_count) == (["t"], 0)
    assert (untagged.tags, untagged.hidden_tag_count) == ([], 0)
