import json

import pytest

from capabilities.documents import DOCUMENT_BYTES_LIMIT, read_document, text_error
from capabilities.problems import PROBLEM_LIMIT, Problem, Problems, UnreadableDocument

TOO_DEEP = "is nested deeper than 64 levels"


def read_well(raw: bytes) -> dict:
    problems = Problems()
    document = read_document(raw, problems)
    assert not problems.errors
    assert not problems.warnings
    return document


def refusal(raw: bytes) -> Problem:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(raw, Problems())
    return caught.value.problem


def errors(raw: bytes) -> list[tuple[str, str]]:
    problems = Problems()
    read_document(raw, problems)
    return [(problem.path, problem.message) for problem in problems.errors]


def nested(depth: int) -> bytes:
    """An object that holds lists in lists, `depth` levels in all."""
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def test_a_document_is_read_as_it_stands():
    raw = '{"a": [1, 1.5, true, null, "größe"], "": {}}'.encode()

    assert read_well(raw) == {"a": [1, 1.5, True, None, "größe"], "": {}}


def test_a_byte_order_mark_is_forgiven():
    assert read_well(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("raw", [b"", b" \r\n\t", b"\xef\xbb\xbf"])
def test_nothing_is_no_document(raw):
    assert refusal(raw) == Problem("$", "is empty")


def test_what_is_not_json_says_where_it_stops_being_so():
    assert refusal(b'{"a": 1,\n  b: 2}').message.startswith("is not JSON: ")
    assert refusal(b'{"a": 1,\n  b: 2}').message.endswith(" at line 2 column 3")


@pytest.mark.parametrize(
    "raw", [b"{", b"{'a': 1}", b'{"a": 1} x', b"<html>", b"{}{}", b'{"a": "\n"}']
)
def test_what_is_nearly_json_is_not_json(raw):
    assert refusal(raw).message.startswith("is not JSON: ")


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"[]", "an array"),
        (b'"a"', "a string"),
        (b"1", "a number"),
        (b"1.5", "a number"),
        (b"true", "a boolean"),
        (b"null", "null"),
    ],
)
def test_only_an_object_is_a_document(raw, found):
    assert refusal(raw) == Problem("$", f"must be a JSON object, is {found}")


def test_utf_16_is_not_read():
    assert refusal('{"a": 1}'.encode("utf-16")).message == "is not UTF-8 at byte 0"
    assert "is not JSON" in refusal('{"a": 1}'.encode("utf-16-le")).message


def test_bytes_that_are_not_utf_8_are_counted_to():
    assert refusal(b'{"a": "\xff"}').message == "is not UTF-8 at byte 7"
    assert refusal(b'{"\xed\xa0\x80": 1}').message == "is not UTF-8 at byte 2"


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused(name):
    message = f"is not JSON: {name} is no JSON value"

    assert refusal(f'{{"a": [{name}]}}'.encode()).message == message


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 400 + ".0"])
def test_a_number_beyond_every_number_is_refused(number):
    message = f"holds a number out of range: {number[:40]}"

    assert refusal(f'{{"a": {number}}}'.encode()).message == message


def test_a_number_that_nearly_is_too_large_is_read():
    assert read_well(b'{"a": 1.7e308, "b": 1e-999}') == {"a": 1.7e308, "b": 0.0}


def test_an_integer_of_thousands_of_digits_is_refused():
    raw = b'{"a": ' + b"9" * 5_000 + b"}"

    assert refusal(raw) == Problem("$", "holds a number that is too long")


def test_sixty_four_levels_are_read():
    assert read_well(nested(64))["a"]


def test_sixty_five_levels_are_too_deep_and_say_where():
    assert refusal(nested(65)) == Problem("$.a" + "[0]" * 63, TOO_DEEP)


@pytest.mark.parametrize("depth", [200, 100_000])
def test_many_more_levels_are_too_deep_as_well(depth):
    assert refusal(nested(depth)).message == TOO_DEEP


def test_objects_count_as_levels_too():
    assert read_well(b'{"a":' * 63 + b"{}" + b"}" * 63)
    assert refusal(b'{"a":' * 64 + b"{}" + b"}" * 64).path == "$" + ".a" * 64


def test_a_text_below_the_deepest_level_is_no_level():
    assert read_well(b'{"a":' * 63 + b'{"a": "text"}' + b"}" * 63)


def test_nul_characters_are_errors_where_they_stand():
    raw = json.dumps({"a": {"b c": ["x", "y\0"]}, "d": "\0"}).encode()

    message = "must not contain NUL characters"
    assert errors(raw) == [("$.a['b c'][1]", message), ("$.d", message)]


def test_lone_surrogates_are_errors_where_they_stand():
    message = "must not contain lone surrogates"

    assert errors(rb'{"a": ["\ud800", "\udc00\ud800"]}') == [
        ("$.a[0]", message),
        ("$.a[1]", message),
    ]


def test_a_surrogate_pair_is_a_character():
    assert read_well(rb'{"a": "\ud83d\ude00"}') == {"a": "😀"}


def test_member_names_are_held_to_the_same():
    raw = rb'{"a": {"\ud800": 1}, "\u0000": "\u0000"}'

    assert errors(raw) == [
        ("$.a", "has a member name that must not contain lone surrogates"),
        ("$", "has a member name that must not contain NUL characters"),
        (r"$['\x00']", "must not contain NUL characters"),
    ]


@pytest.mark.parametrize("text", ["", "a", "größe", "😀", "\n\t", "\u202e"])
def test_other_texts_have_no_fault(text):
    assert text_error(text) == ""


def test_a_repeated_member_is_a_warning_and_the_last_one_counts():
    problems = Problems()

    assert read_document(b'{"a": 1, "b": {"c": 1, "c": 2, "c": 3}}', problems) == {
        "a": 1,
        "b": {"c": 3},
    }
    message = "member 'c' is repeated; the last one counts"
    assert problems.warnings == [Problem("$", message)]
    assert not problems.errors


def test_each_repeated_member_is_told_once():
    problems = Problems()
    read_document(b'{"a": 1, "b": 1, "a": 1, "b": 1, "a": 1, "c": 1}', problems)

    told = [problem.message.split()[1] for problem in problems.warnings]
    assert told == ["'a'", "'b'"]


def test_a_document_may_just_reach_the_limit():
    raw = b'{"a": "' + b"x" * (DOCUMENT_BYTES_LIMIT - 9) + b'"}'
    assert len(raw) == DOCUMENT_BYTES_LIMIT == 1_048_576

    assert read_well(raw)
    assert refusal(raw + b" ") == Problem("$", "is larger than 1048576 bytes")


def test_a_long_member_name_above_many_items_is_not_repeated_for_each():
    raw = json.dumps({"k" * 50_000: ["x"] * 10_000 + ["\0"]}).encode()

    assert errors(raw) == [
        (f"$['{'k' * 80}…'][10000]", "must not contain NUL characters")
    ]


def test_a_hundred_thousand_faults_are_not_all_told():
    found = errors(json.dumps({"a": ["\0"] * 100_000}).encode())

    assert len(found) == PROBLEM_LIMIT + 1
    assert found[-1] == ("$", f"has more than these {PROBLEM_LIMIT} problems")
