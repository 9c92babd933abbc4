import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.documents import read_document, read_json
from capabilities.front_matter import (
    FRONT_MATTER_BYTES_LIMIT,
    front_matter_contains,
    is_yaml_or_toml,
    yaml_text,
)
from capabilities.problems import PROBLEM_LIMIT, Problem, Problems, UnreadableDocument

TOO_DEEP = "is nested deeper than 64 levels"


def read_well(text: str) -> dict:
    problems = Problems()
    document = read_document(text.encode(), problems)
    assert not problems.errors
    assert not problems.warnings
    return document


def refusal(text: str) -> Problem:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(text.encode(), Problems())
    return caught.value.problem


def fenced(body: str) -> str:
    return f"---\n{body}\n---\n"


# Where it begins and ends


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
def test_what_opens_so_is_read_and_the_prompt_is_not(text):
    assert read_well(text) == {"a": 1}


def test_a_file_of_toml_may_begin_with_a_table():
    assert read_well("[a]\nb = 1\n") == {"a": {"b": 1}}
    assert read_well("[[a.b]] # many\nc = 1\n") == {"a": {"b": [{"c": 1}]}}


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
def test_json_and_what_is_none_of_the_three_never_opens_so(text):
    assert not is_yaml_or_toml(text)


@pytest.mark.parametrize("text", ["---\na: 1\n---\n", "+++\na = 1\n+++\n", "a = 1"])
def test_where_json_is_asked_for_there_is_only_json(text):
    with pytest.raises(UnreadableDocument) as caught:
        read_json(text.encode(), Problems())

    assert str(caught.value).startswith("is not JSON: ")


def test_a_word_is_looked_for_in_the_front_matter_alone():
    assert front_matter_contains(fenced("capabilities: []"), "capabilities")
    assert not front_matter_contains(
        fenced("title: x") + "On capabilities", "capabilities"
    )
    assert not front_matter_contains("# capabilities", "capabilities")
    assert not front_matter_contains("capabilities = []", "capabilities")


def test_it_may_just_reach_its_limit_and_the_prompt_does_not_count():
    line = "a: " + "x" * (FRONT_MATTER_BYTES_LIMIT - 5)
    prompt = "p" * 100_000
    assert read_well(f"---\n{line}\n---\n{prompt}")

    message = f"has more than {FRONT_MATTER_BYTES_LIMIT} bytes of"
    assert refusal(f"---\n{line}x\n---\n").message == f"{message} YAML"
    assert (
        refusal(f'a = "{"x" * FRONT_MATTER_BYTES_LIMIT}"').message == f"{message} TOML"
    )


@pytest.mark.parametrize("text", ["---\n---\n", "---", "---\n# nothing\n---\nPrompt"])
def test_empty_front_matter_is_no_document(text):
    assert refusal(text) == Problem("$", "is empty")


# YAML


def test_yaml_becomes_what_json_could_say():
    body = """
texts: [a, "1", 'true', "", ünï, 😀]
words: [true, False, null, ~, NULL]
numbers: [1, -2, 1.5, .5, 1e3, +7, 0]
later: |
  two
  lines
"""
    assert read_well(fenced(body)) == {
        "texts": ["a", "1", "true", "", "ünï", "😀"],
        "words": [True, False, None, None, None],
        "numbers": [1, -2, 1.5, 0.5, 1000.0, 7, 0],
        "later": "two\nlines\n",
    }


@pytest.mark.parametrize(
    "text", ["no", "on", "1:30", "007", "0x1F", "2026-01-01", "1_000", "=", "<<"]
)
def test_what_older_yaml_would_read_otherwise_stays_text(text):
    assert read_well(fenced(f"a: {text}")) == {"a": text}


def test_every_key_is_text():
    body = "1: a\ntrue: b\n2026-01-01: c\n'': d\n<<: {e: f}"

    assert list(read_well(fenced(body))) == ["1", "true", "2026-01-01", "", "<<"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a: &x [1]\nb: *x", "anchors and aliases are not read at line 2 column 4"),
        ("a: *x", "anchors and aliases are not read at line 2 column 4"),
        ("a: !!python/object:os.system x", "tags are not read at line 2 column 4"),
        ("b: 1\na: !mine {}", "tags are not read at line 3 column 4"),
        ("a: !!binary aGk=", "tags are not read at line 2 column 4"),
        ("a: .nan", ".nan is no JSON value at line 2 column 4"),
        ("a: [-.inf]", "-.inf is no JSON value at line 2 column 5"),
        ("[a]: 1", "a key must be a text at line 2 column 1"),
        ("- a\n- b", "there must be keys and values at line 2 column 1"),
        ("just words", "there must be keys and values at line 2 column 1"),
        ("a: 1\nb: \x07", "a control character at line 3 column 4"),
        ("a: 1\nb: \0", "a control character at line 3 column 4"),
    ],
)
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_what_is_not_plain_yaml_is_refused_where_it_stands(
    monkeypatch, loader, body, message
):
    monkeypatch.setattr(yaml_text, "LOADER", getattr(yaml, loader))

    assert refusal(fenced(body)) == Problem("$", f"is not YAML: {message}")


@pytest.mark.parametrize("body", ["a: [1", "a: b: c", "a:\n\tb: 1", "a: '", "@: 1"])
def test_malformed_yaml_tells_line_and_column(body):
    message = refusal(fenced(body)).message

    assert message.startswith("is not YAML: ")
    assert " at line " in message
    assert " column " in message


def test_a_file_of_yaml_is_one_document():
    message = "is not YAML: there must be one document at line 2 column 1"

    assert refusal("a: 1\n---\nb: 2\n").message == message


def test_a_billion_laughs_are_not_heard():
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]

    assert "anchors and aliases" in refusal(fenced("\n".join(lines))).message


def test_a_repeated_member_is_a_warning_with_its_path():
    problems = Problems()
    document = read_document(b"---\na: {b: [{c: 1, c: 2}]}\n---\n", problems)

    assert document == {"a": {"b": [{"c": 2}]}}
    message = "member 'c' is repeated; the last one counts"
    assert problems.warnings == [Problem("$.a.b[0]", message)]


def test_members_repeated_without_end_are_not_all_told():
    problems = Problems()
    read_document(b"---\n" + b"a: 1\n" * 10_000, problems)

    assert len(problems.warnings) == PROBLEM_LIMIT + 1


def test_an_escaped_nul_is_an_error_where_it_stands():
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


def test_toml_becomes_what_json_could_say():
    text = """
a = ["x", 1, 1.5, true]
day = 2026-01-01
moment = 2026-01-01T10:00:00Z
time = 10:30:00
[b.c]
d = {e = 'f'}
"""
    assert read_well(text) == {
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
        ("a = nan", "holds a number out of range: nan"),
        ("a = [-inf]", "holds a number out of range: -inf"),
        ("a = 1e999", "holds a number out of range: 1e999"),
        ("a = " + "9" * 5_000, "holds a number that is too long"),
        ("a = 0x" + "f" * 50_000, "holds an integer of more than 64 bits"),
    ],
    ids=lambda text: text[:20],
)
def test_what_toml_does_not_have_or_json_could_not_say_is_refused(text, message):
    assert refusal(text).message.startswith(message)


# Hostile in either


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("9223372036854775808", "holds an integer of more than 64 bits"),
        ("-9223372036854775809", "holds an integer of more than 64 bits"),
        ("9" * 5_000, "holds a number that is too long"),
        ("1e999", "holds a number out of range: 1e999"),
    ],
    ids=lambda text: text[:20],
)
def test_a_number_nobody_could_read_again_is_refused(number, message):
    assert refusal(fenced(f"a: {number}")).message == message
    assert read_well(fenced(f"a: {2**63 - 1}")) == {"a": 2**63 - 1}


def nested(depth: int) -> str:
    return "[" * (depth - 1) + "]" * (depth - 1)


@pytest.mark.parametrize("text", ["---\na: {}\n---\n", "a = {}"])
def test_sixty_four_levels_are_read_and_no_more(text):
    assert read_well(text.replace("{}", nested(64)))

    refused = refusal(text.replace("{}", nested(65)))
    assert refused == Problem("$.a" + "[0]" * 63, TOO_DEEP)


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
def test_endless_nesting_is_refused_before_it_costs_anything(text):
    assert refusal(text).message == TOO_DEEP


@pytest.mark.parametrize("text", ["{}a = 1", "[{}a]", "x = {{{}a = 1}}"])
def test_a_toml_key_of_endless_parts_is_refused_before_it_costs_anything(text):
    message = "has more than 256 dots in one line, at line 2"

    assert refusal("+++\n" + text.format("a." * 30_000)).message == message


def test_what_comes_out_is_json_and_comes_back_equal():
    document = read_well(fenced("a: [1, 2.5, x, ~, {b: 2026-01-01, c: no}]"))

    assert json.loads(json.dumps(document)) == document


@given(
    st.sampled_from(["---\n", "+++\n", "a: ", "a = ", "[a]\n"]),
    st.text(st.sampled_from("ab1-.:=[]{}'\"&*!|>#,?%@\\~ \t\n\r\0\x85é\ufeff😀")),
)
@settings(max_examples=300)
def test_whatever_follows_it_is_a_document_or_unreadable(opening, rest):
    try:
        document = read_document((opening + rest).encode(), Problems())
    except UnreadableDocument:
        document = {}

    assert json.loads(json.dumps(document, allow_nan=False)) == document
