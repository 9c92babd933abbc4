import json

import pytest

from capabilities.documents import DOCUMENT_BYTES_LIMIT, find_text_error, read_document
from capabilities.problems import PROBLEM_LIMIT, Problem, Problems

from .documents import TOO_DEEP_MESSAGE, get_read_error, read_valid


def get_errors(raw: bytes) -> list[tuple[str, str]]:
    problems = Problems()
    read_document(raw, problems)
    return [(problem.path, problem.message) for problem in problems.errors]


def build_nested_document(depth: int) -> bytes:
    """Return an object with nested lists, `depth` levels in total."""
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def test_read_document_keeps_all_values():
    raw = '{"a": [1, 1.5, true, null, "größe"], "": {}}'.encode()

    assert read_valid(raw) == {"a": [1, 1.5, True, None, "größe"], "": {}}


def test_byte_order_mark_is_ignored():
    assert read_valid(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("raw", [b"", b" \r\n\t", b"\xef\xbb\xbf"])
def test_blank_document_is_rejected(raw):
    assert get_read_error(raw) == Problem("$", "is empty")


def test_invalid_json_error_names_line_and_column():
    assert get_read_error(b'{"a": 1,\n  b: 2}').message.startswith("is not JSON: ")
    assert get_read_error(b'{"a": 1,\n  b: 2}').message.endswith(" at line 2 column 3")


@pytest.mark.parametrize(
    "raw", [b"{", b"{'a': 1}", b'{"a": 1} x', b"<html>", b"{}{}", b'{"a": "\n"}']
)
def test_invalid_json_is_rejected(raw):
    assert get_read_error(raw).message.startswith("is not JSON: ")


@pytest.mark.parametrize(
    ("raw", "type_name"),
    [
        (b"[]", "an array"),
        (b'"a"', "a string"),
        (b"1", "a number"),
        (b"1.5", "a number"),
        (b"true", "a boolean"),
        (b"null", "null"),
    ],
)
def test_document_that_is_not_an_object_is_rejected(raw, type_name):
    message = f"must be a JSON object, not {type_name}"
    assert get_read_error(raw) == Problem("$", message)


def test_utf_16_is_rejected():
    assert (
        get_read_error('{"a": 1}'.encode("utf-16")).message == "is not UTF-8 at byte 0"
    )
    assert "is not JSON" in get_read_error('{"a": 1}'.encode("utf-16-le")).message


def test_invalid_utf_8_error_names_byte_position():
    assert get_read_error(b'{"a": "\xff"}').message == "is not UTF-8 at byte 7"
    assert get_read_error(b'{"\xed\xa0\x80": 1}').message == "is not UTF-8 at byte 2"


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_rejected(name):
    message = f"is not JSON: {name} is not a JSON value"

    assert get_read_error(f'{{"a": [{name}]}}'.encode()).message == message


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 400 + ".0"])
def test_float_out_of_range_is_rejected(number):
    message = f"contains a number out of range: {number[:40]}"

    assert get_read_error(f'{{"a": {number}}}'.encode()).message == message


def test_largest_and_smallest_floats_are_read():
    assert read_valid(b'{"a": 1.7e308, "b": 1e-999}') == {"a": 1.7e308, "b": 0.0}


def test_integer_with_thousands_of_digits_is_rejected():
    raw = b'{"a": ' + b"9" * 5_000 + b"}"

    message = "contains an integer with too many digits; write it as a string"
    assert get_read_error(raw) == Problem("$", message)


def test_document_with_64_levels_is_read():
    assert read_valid(build_nested_document(64))["a"]


def test_document_with_65_levels_is_rejected_with_path():
    assert get_read_error(build_nested_document(65)) == Problem(
        "$.a" + "[0]" * 63, TOO_DEEP_MESSAGE
    )


@pytest.mark.parametrize("depth", [200, 100_000])
def test_very_deep_document_is_rejected(depth):
    assert get_read_error(build_nested_document(depth)).message == TOO_DEEP_MESSAGE


def test_nested_objects_count_as_levels():
    assert read_valid(b'{"a":' * 63 + b"{}" + b"}" * 63)
    assert get_read_error(b'{"a":' * 64 + b"{}" + b"}" * 64).path == "$" + ".a" * 64


def test_string_at_deepest_level_adds_no_level():
    assert read_valid(b'{"a":' * 63 + b'{"a": "text"}' + b"}" * 63)


def test_nul_characters_are_errors_at_their_paths():
    raw = json.dumps({"a": {"b c": ["x", "y\0"]}, "d": "\0"}).encode()

    message = "must not contain NUL characters"
    assert get_errors(raw) == [("$.a['b c'][1]", message), ("$.d", message)]


def test_lone_surrogates_are_errors_at_their_paths():
    message = "must not contain lone surrogates"

    assert get_errors(rb'{"a": ["\ud800", "\udc00\ud800"]}') == [
        ("$.a[0]", message),
        ("$.a[1]", message),
    ]


def test_surrogate_pair_is_read_as_one_character():
    assert read_valid(rb'{"a": "\ud83d\ude00"}') == {"a": "😀"}


def test_member_names_with_invalid_characters_are_errors():
    raw = rb'{"a": {"\ud800": 1}, "\u0000": "\u0000"}'

    assert get_errors(raw) == [
        ("$.a", "has a member name that must not contain lone surrogates"),
        ("$", "has a member name that must not contain NUL characters"),
        (r"$['\x00']", "must not contain NUL characters"),
    ]


@pytest.mark.parametrize("text", ["", "a", "größe", "😀", "\n\t", "\u202e"])
def test_text_error_is_empty_for_valid_text(text):
    assert find_text_error(text) == ""


def test_repeated_member_is_a_warning_and_last_value_is_used():
    problems = Problems()

    assert read_document(b'{"a": 1, "b": {"c": 1, "c": 2, "c": 3}}', problems) == {
        "a": 1,
        "b": {"c": 3},
    }
    message = (
        "member 'c' is repeated in an object of the document; the last value is used"
    )
    assert problems.warnings == [Problem("$", message)]
    assert not problems.errors


def test_each_repeated_member_is_reported_once():
    problems = Problems()
    read_document(b'{"a": 1, "b": 1, "a": 1, "b": 1, "a": 1, "c": 1}', problems)

    names = [problem.message.split()[1] for problem in problems.warnings]
    assert names == ["'a'", "'b'"]


def test_document_size_limit_is_inclusive():
    raw = b'{"a": "' + b"x" * (DOCUMENT_BYTES_LIMIT - 9) + b'"}'
    assert len(raw) == DOCUMENT_BYTES_LIMIT == 1_048_576

    assert read_valid(raw)
    assert get_read_error(raw + b" ") == Problem("$", "is larger than 1048576 bytes")


def test_long_member_name_is_cut_in_error_path():
    raw = json.dumps({"k" * 50_000: ["x"] * 10_000 + ["\0"]}).encode()

    assert get_errors(raw) == [
        (f"$['{'k' * 80}…'][10000]", "must not contain NUL characters")
    ]


def test_number_of_reported_errors_is_limited():
    errors = get_errors(json.dumps({"a": ["\0"] * 100_000}).encode())

    assert len(errors) == PROBLEM_LIMIT + 1
    assert errors[-1] == (
        "$",
        f"has more than {PROBLEM_LIMIT} problems; the others are not listed",
    )
