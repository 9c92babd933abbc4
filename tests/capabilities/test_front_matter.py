import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.documents import read_document, read_json
from capabilities.front_matter import (
    YAML_OR_TOML_BYTES_LIMIT,
    has_word_in_front_matter,
    is_yaml_or_toml,
    yaml_text,
)
from capabilities.problems import PROBLEM_LIMIT, Problem, Problems, UnreadableDocument

from .documents import TOO_DEEP_MESSAGE, get_read_error, read_valid

TOO_MANY_DIGITS = "contains an integer with too many digits; write it as a string"
OUTSIDE_64_BITS = "contains an integer outside the 64-bit range; write it as a string"


def build_yaml(body: str) -> str:
    return f"---\n{body}\n---\n"


# Detecting front matter


@pytest.mark.parametrize(
    "text",
    [
        "---\na: 1\n---\n",
        "---\na: 1\n---",
        "---\na: 1\n---\nYou are an agent.\n---\nb: 2\n",
        "--- \t\r\na: 1\r\n---\r\n# Prompt\r\n",
        "\ufeff---\na: 1\n---\n",
        "\n\n---\na: 1\n---\n",
        "---\na: 1\n",
        "---\n# a comment\n\na: 1\n",
        "a: 1\n",
        "# a comment\n\na: 1\n",
        "+++\na = 1\n+++\n",
        "+++\r\na = 1\r\n+++\r\nYou are an agent: *always*.",
        "a = 1",
        "# a comment\n\n  a=1\n",
        '"a" = 1',
    ],
)
def test_front_matter_is_read_without_the_prompt(text):
    assert read_valid(text) == {"a": 1}


def test_toml_file_may_begin_with_a_table():
    assert read_valid("[a]\nb = 1\n") == {"a": {"b": 1}}
    assert read_valid("[[a.b]] # many\nc = 1\n") == {"a": {"b": [{"c": 1}]}}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"a": 1}',
        "[]",
        "[1]",
        '["a"]',
        "[true]",
        "[null]",
        "[[1]]",
        '"a"',
        "-1",
        "1",
        "null",
        "not json",
        "# Only a title\n",
        "<html>",
        "{a: 1}",
        "----\na: 1",
        "a == 1",
    ],
)
def test_json_and_other_text_is_not_yaml_or_toml(text):
    assert not is_yaml_or_toml(text)


@pytest.mark.parametrize("text", ["---\na: 1\n---\n", "+++\na = 1\n+++\n", "a = 1"])
def test_read_json_rejects_yaml_and_toml(text):
    with pytest.raises(UnreadableDocument) as caught:
        read_json(text.encode(), Problems())

    assert str(caught.value).startswith("is not JSON: ")


def test_word_search_covers_only_the_front_matter():
    assert has_word_in_front_matter(build_yaml("capabilities: []"), "capabilities")
    assert not has_word_in_front_matter(
        build_yaml("title: x") + "On capabilities", "capabilities"
    )
    assert not has_word_in_front_matter("# capabilities", "capabilities")
    assert not has_word_in_front_matter("capabilities = []", "capabilities")


def test_front_matter_size_limit_excludes_the_prompt():
    line = "a: " + "x" * (YAML_OR_TOML_BYTES_LIMIT - 5)
    prompt = "p" * 100_000
    assert read_valid(f"---\n{line}\n---\n{prompt}")

    message = f"has more than {YAML_OR_TOML_BYTES_LIMIT} bytes of"
    assert get_read_error(f"---\n{line}x\n---\n").message == f"{message} YAML"
    assert (
        get_read_error(f'a = "{"x" * YAML_OR_TOML_BYTES_LIMIT}"').message
        == f"{message} TOML"
    )


@pytest.mark.parametrize("text", ["---\n---\n", "---", "---\n# nothing\n---\nPrompt"])
def test_empty_front_matter_is_rejected(text):
    assert get_read_error(text) == Problem("$", "is empty")


# YAML


def test_yaml_values_become_json_values():
    body = """
texts: [a, "1", 'true', "", ünï, 😀]
words: [true, False, null, ~, NULL]
numbers: [1, -2, 1.5, .5, 1e3, +7, 0]
later: |
  two
  lines
"""
    assert read_valid(build_yaml(body)) == {
        "texts": ["a", "1", "true", "", "ünï", "😀"],
        "words": [True, False, None, None, None],
        "numbers": [1, -2, 1.5, 0.5, 1000.0, 7, 0],
        "later": "two\nlines\n",
    }


@pytest.mark.parametrize(
    "text", ["no", "on", "1:30", "007", "0x1F", "2026-01-01", "1_000", "=", "<<"]
)
def test_yaml_1_1_special_values_stay_strings(text):
    assert read_valid(build_yaml(f"a: {text}")) == {"a": text}


def test_yaml_keys_become_strings():
    body = "1: a\ntrue: b\n2026-01-01: c\n'': d\n<<: {e: f}"

    assert list(read_valid(build_yaml(body))) == ["1", "true", "2026-01-01", "", "<<"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "a: &x [1]\nb: *x",
            "anchors and aliases are not supported at line 2 column 4",
        ),
        ("a: *x", "anchors and aliases are not supported at line 2 column 4"),
        ("a: !!python/object:os.system x", "tags are not supported at line 2 column 4"),
        ("b: 1\na: !mine {}", "tags are not supported at line 3 column 4"),
        ("a: !!binary aGk=", "tags are not supported at line 2 column 4"),
        ("a: .nan", ".nan is not a JSON value at line 2 column 4"),
        ("a: [-.inf]", "-.inf is not a JSON value at line 2 column 5"),
        ("[a]: 1", "a key must be a string at line 2 column 1"),
        ("- a\n- b", "the document must be a mapping at line 2 column 1"),
        ("just words", "the document must be a mapping at line 2 column 1"),
        ("a: 1\nb: \x07", "a control character at line 3 column 4"),
        ("a: 1\nb: \0", "a control character at line 3 column 4"),
    ],
)
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_unsupported_yaml_is_rejected_with_position(monkeypatch, loader, body, message):
    monkeypatch.setattr(yaml_text, "LOADER", getattr(yaml, loader))

    assert get_read_error(build_yaml(body)) == Problem(
        "$", f"cannot be read as YAML: {message}"
    )


@pytest.mark.parametrize("body", ["a: [1", "a: b: c", "a:\n\tb: 1", "a: '", "@: 1"])
def test_malformed_yaml_error_names_line_and_column(body):
    message = get_read_error(build_yaml(body)).message

    assert message.startswith("cannot be read as YAML: ")
    assert " at line " in message
    assert " column " in message


def test_yaml_file_with_two_documents_is_rejected():
    message = (
        "cannot be read as YAML: there must be only one document at line 2 column 1"
    )

    assert get_read_error("a: 1\n---\nb: 2\n").message == message


def test_yaml_alias_bomb_is_rejected():
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]

    assert "anchors and aliases" in get_read_error(build_yaml("\n".join(lines))).message


def test_repeated_yaml_member_is_a_warning_with_path():
    problems = Problems()
    document = read_document(b"---\na: {b: [{c: 1, c: 2}]}\n---\n", problems)

    assert document == {"a": {"b": [{"c": 2}]}}
    message = "member 'c' is repeated; the last value is used"
    assert problems.warnings == [Problem("$.a.b[0]", message)]


def test_number_of_repeated_member_warnings_is_limited():
    problems = Problems()
    read_document(b"---\n" + b"a: 1\n" * 10_000, problems)

    assert len(problems.warnings) == PROBLEM_LIMIT + 1


def test_escaped_nul_in_yaml_is_an_error_with_path():
    problems = Problems()
    read_document(
        rb"""---
a: ["x\0"]
---
""",
        problems,
    )

    assert problems.errors == [Problem("$.a[0]", "must not contain NUL characters")]


# TOML


def test_toml_values_become_json_values():
    text = """
a = ["x", 1, 1.5, true]
day = 2026-01-01
moment = 2026-01-01T10:00:00Z
time = 10:30:00
[b.c]
d = {e = 'f'}
"""
    assert read_valid(text) == {
        "a": ["x", 1, 1.5, True],
        "day": "2026-01-01",
        "moment": "2026-01-01T10:00:00+00:00",
        "time": "10:30:00",
        "b": {"c": {"d": {"e": "f"}}},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+++\na = 1\nb = \n+++\n", "is not TOML: Invalid value at line 3 column 5"),
        ("a = 1\na = 2\nb = 3", "is not TOML: Cannot overwrite a value at line 2"),
        ("a = ", "is not TOML: Invalid value at the end"),
        ("a = nan", "contains a number out of range: nan"),
        ("a = [-inf]", "contains a number out of range: -inf"),
        ("a = 1e999", "contains a number out of range: 1e999"),
        ("a = " + "9" * 5_000, TOO_MANY_DIGITS),
        ("a = 0x" + "f" * 50_000, OUTSIDE_64_BITS),
    ],
    ids=lambda text: text[:20],
)
def test_invalid_toml_and_numbers_out_of_range_are_rejected(text, message):
    assert get_read_error(text).message.startswith(message)


# Limits of both formats


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("9223372036854775808", OUTSIDE_64_BITS),
        ("-9223372036854775809", OUTSIDE_64_BITS),
        ("9" * 5_000, TOO_MANY_DIGITS),
        ("1e999", "contains a number out of range: 1e999"),
    ],
    ids=lambda text: text[:20],
)
def test_yaml_numbers_out_of_range_are_rejected(number, message):
    assert get_read_error(build_yaml(f"a: {number}")).message == message
    assert read_valid(build_yaml(f"a: {2**63 - 1}")) == {"a": 2**63 - 1}


def build_nested_list(depth: int) -> str:
    return "[" * (depth - 1) + "]" * (depth - 1)


@pytest.mark.parametrize("text", ["---\na: {}\n---\n", "a = {}"])
def test_front_matter_has_at_most_64_levels(text):
    assert read_valid(text.replace("{}", build_nested_list(64)))

    error = get_read_error(text.replace("{}", build_nested_list(65)))
    assert error == Problem("$.a" + "[0]" * 63, TOO_DEEP_MESSAGE)


@pytest.mark.parametrize(
    "text",
    [
        "---\na: " + "[" * 60_000,
        "---\na: " + "{a: " * 15_000,
        "---\na:\n " + "- " * 30_000,
        "a = " + "[" * 60_000,
        "a = " + "{a = " * 12_000,
        "\n".join("a." * 255 + f"a{n} = 1" for n in range(120)),
        "[" + "a." * 200 + "a]",
    ],
    ids=lambda text: text[:12],
)
def test_very_deep_front_matter_is_rejected(text):
    assert get_read_error(text).message == TOO_DEEP_MESSAGE


@pytest.mark.parametrize("text", ["{}a = 1", "[{}a]", "x = {{{}a = 1}}"])
def test_toml_key_with_too_many_dots_is_rejected(text):
    message = "has more than 256 dots in one line, at line 2"

    assert get_read_error("+++\n" + text.format("a." * 30_000)).message == message


def test_yaml_document_survives_json_round_trip():
    document = read_valid(build_yaml("a: [1, 2.5, x, ~, {b: 2026-01-01, c: no}]"))

    assert json.loads(json.dumps(document)) == document


@given(
    st.sampled_from(["---\n", "+++\n", "a: ", "a = ", "[a]\n"]),
    st.text(st.sampled_from("ab1-.:=[]{}'\"&*!|>#,?%@\\~ \t\n\r\0\x85é\ufeff😀")),
)
@settings(max_examples=300)
def test_any_text_is_a_json_document_or_unreadable(opening, remainder):
    try:
        document = read_document((opening + remainder).encode(), Problems())
    except UnreadableDocument:
        document = {}

    assert json.loads(json.dumps(document, allow_nan=False)) == document
