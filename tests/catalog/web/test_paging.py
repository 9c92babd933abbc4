import pytest

from catalog.web.views.paging import MAX_SHOWN, Window, parse_positive_int


@pytest.mark.parametrize(
    ("said", "understood"),
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
def test_pages_forgive_what_is_no_number(said, understood):
    assert parse_positive_int(said, default=1, limit=99) == understood


@pytest.mark.parametrize(
    ("asked", "page", "size"),
    [
        ({}, 1, 50),
        ({"page": "3"}, 3, 50),
        ({"shown": "100"}, 1, 100),
        ({"page": "2", "shown": "150"}, 2, 150),
        ({"shown": "-1", "page": "abc"}, 1, 50),
        ({"shown": "999999999"}, 1, MAX_SHOWN),
    ],
)
def test_a_window_is_read_off_the_url(asked, page, size):
    assert Window.of(asked) == Window(page, size)


@pytest.mark.parametrize("shown", ["7", "50", "75", "99", "101", "1000"])
def test_the_next_page_begins_where_this_one_ends(shown):
    window = Window.of({"shown": shown}).over(5_000)

    assert Window(window.next_page).start == window.end


def test_a_first_page_that_holds_all_needs_no_paging():
    assert not Window().over(50).is_part
    assert Window().over(51).is_part
    assert Window(size=100).over(60).is_part
    assert Window(page=2).over(60).is_part


def test_a_window_grows_until_it_is_large_enough():
    assert Window(size=100).grown == 150
    assert Window(size=MAX_SHOWN - 50).can_grow
    assert not Window(size=MAX_SHOWN).can_grow


def test_what_stands_before_is_told_apart():
    assert Window(size=2).parted([1, 2, 3]) == (None, [1, 2])
    assert Window(page=2, size=2).parted([1, 2, 3]) == (1, [2, 3])
    assert Window(page=9).parted([]) == (None, [])
