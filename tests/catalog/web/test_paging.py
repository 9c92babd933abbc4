import pytest

from catalog.web.views.paging import MAX_SHOWN, Window, parse_positive_int


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 1),
        ("2", 2),
        ("007", 7),
        ("0", 1),
        ("-1", 1),
        ("abc", 1),
        ("1.5", 1),
        ("٣", 1),
        ("²", 1),
        (" 2", 1),
        ("999", 99),
        ("9" * 5000, 1),
    ],
)
def test_parse_positive_int_returns_default_for_invalid_text(text, expected):
    assert parse_positive_int(text, default=1, limit=99) == expected


@pytest.mark.parametrize(
    ("parameters", "page", "size"),
    [
        ({}, 1, 50),
        ({"page": "3"}, 3, 50),
        ({"shown": "100"}, 1, 100),
        ({"page": "2", "shown": "150"}, 2, 150),
        ({"shown": "-1", "page": "abc"}, 1, 50),
        ({"shown": "999999999"}, 1, MAX_SHOWN),
    ],
)
def test_window_is_read_from_url_parameters(parameters, page, size):
    assert Window.from_parameters(parameters) == Window(page, size)


@pytest.mark.parametrize("shown", ["7", "50", "75", "99", "101", "1000"])
def test_next_page_starts_where_window_ends(shown):
    window = Window.from_parameters({"shown": shown}).with_total(5_000)

    assert Window(window.next_page).start == window.end


def test_list_on_one_page_needs_no_paging():
    assert not Window().with_total(50).needs_paging
    assert Window().with_total(51).needs_paging
    assert Window(size=100).with_total(60).needs_paging
    assert Window(page=2).with_total(60).needs_paging


def test_window_grows_up_to_maximum_size():
    assert Window(size=100).next_size == 150
    assert Window(size=MAX_SHOWN - 50).can_grow
    assert not Window(size=MAX_SHOWN).can_grow


def test_split_items_separates_items_before_and_after_window():
    assert Window(size=2).split_items([1, 2]) == (None, [1, 2], None)
    assert Window(size=2).split_items([1, 2, 3, 4]) == (None, [1, 2], 3)
    assert Window(page=2, size=2).split_items([1, 2, 3]) == (1, [2, 3], None)
    assert Window(page=2, size=2).split_items([1, 2, 3, 4]) == (1, [2, 3], 4)
    assert Window(page=9).split_items([]) == (None, [], None)
