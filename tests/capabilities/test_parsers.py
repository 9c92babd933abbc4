import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from capabilities.kinds import Kind
from capabilities.parsers import (
    ParseError,
    Parser,
    ParseResult,
    ProtocolNotDetected,
    can_be_probed,
    parse,
    parsers,
    protocol_choices,
    try_parse,
)
from capabilities.problems import Problem
from capabilities.protocols.a2a import A2AParser
from capabilities.protocols.mcp import MCPParser
from capabilities.records import AgentRecord, CapabilityRecord
from tests.factories import card_bytes


@dataclass(frozen=True, kw_only=True)
class Note(CapabilityRecord):
    kind: ClassVar[str] = "notes.note"

    color: str = ""

    def disambiguated_name(self):
        return f"{self.name} in {self.color}" if self.color else self.name


class NotesParser(Parser):
    """A protocol of another app; notes are written as `title` or `title/color`."""

    slug = "notes"
    label = "Notebook"
    kinds = (Kind("notes.note", "Note", "notes", Note, discoverable=True),)

    def recognizes(self, document):
        return "notes" in document

    def parse(self, document, problems):
        if "legacy" in document:
            problems.warning("$.legacy", "is deprecated")
        notes = [title.partition("/") for title in document.get("notes", [])]
        return AgentRecord(
            protocol=self.slug,
            endpoint="notes:1",
            name=problems.required_string(document, "name"),
            spec_version=document.get("edition", ""),
            capabilities=tuple(
                Note(name=title, color=color, path=f"$.notes[{n}]")
                for n, (title, _, color) in enumerate(notes)
            ),
        )


@pytest.fixture(autouse=True)
def _register_parsers():
    with parsers.temporarily(A2AParser(), NotesParser()):
        yield


def build_notebook(*notes, **members):
    document = {"name": "Notebook", "notes": list(notes)} | members
    return json.dumps(document).encode()


def get_names(result: ParseResult) -> list[str]:
    return [capability.name for capability in result.record.capabilities]


def test_protocol_of_another_app_is_detected():
    result = try_parse(build_notebook("milk", edition="2"))

    assert result.is_valid
    assert result.protocol == "notes"
    assert result.spec_version == "2"
    assert result.record.capabilities == (Note(name="milk"),)


def test_temporary_parser_is_removed_after_the_block():
    class DiaryParser(NotesParser):
        slug = "diary"

        def recognizes(self, document):
            return "diary" in document

    raw = b'{"diary": 1, "name": "Diary"}'
    with parsers.temporarily(DiaryParser()):
        assert try_parse(raw).protocol == "diary"

    assert try_parse(raw).protocol == ""


def test_first_registered_parser_takes_precedence():
    card = {"skills": [], "url": "https://a.example.com/"}

    assert try_parse(build_notebook(**card)).protocol == "a2a"


def test_given_protocol_skips_detection():
    card = {"skills": [], "url": "https://a.example.com/"}

    assert try_parse(build_notebook("milk", **card), "notes").protocol == "notes"


def test_errors_are_those_of_the_given_protocol():
    result = try_parse(b"{}", "a2a")

    assert result.protocol == "a2a"
    assert {problem.path for problem in result.errors} == {
        "$.name",
        "$.skills",
        "$.supportedInterfaces",
    }


def test_unknown_protocol_error_lists_protocols():
    result = try_parse(b'{"hello": "world"}')

    assert not result.is_valid
    assert (result.protocol, result.record, result.spec_version) == ("", None, "")
    [problem] = result.errors
    assert problem.path == "$"
    assert "A2A, MCP" in problem.message
    assert "Notebook)" in problem.message
    assert len(problem.message) < 200


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"\x00",
        b"null",
        b"[]",
        b"{",
        b"{}",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a":' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        rb'{"\ud800": "\u0000"}',
        b" " * 1_048_577,
    ],
    ids=lambda raw: repr(raw[:12]),
)
@pytest.mark.parametrize("protocol", ["", "a2a", "no such protocol"])
def test_try_parse_never_raises(raw, protocol):
    result = try_parse(raw, protocol)

    assert not result.is_valid
    assert all(problem.message and problem.path for problem in result.errors)
    assert result.errors


def test_result_with_warnings_only_is_valid():
    result = try_parse(build_notebook(legacy=1))

    assert result.is_valid
    assert result.warnings == [Problem("$.legacy", "is deprecated")]


def test_result_without_record_is_not_valid():
    assert not ParseResult().is_valid


def test_all_errors_are_reported():
    result = try_parse(build_notebook(" ", "n" * 501, name="", edition="e" * 256))

    assert [(problem.path, problem.message) for problem in result.errors] == [
        ("$.name", "must be a non-empty string"),
        ("$.protocolVersion", "must have at most 255 characters, but has 256"),
        ("$.notes[0]", "must have a name"),
        ("$.notes[1]", "name must have at most 500 characters, but has 501"),
    ]


def test_invalid_characters_are_reported_before_parsing():
    result = try_parse(build_notebook("a\0", "b\0", name=""))

    assert [problem.path for problem in result.errors] == ["$.notes[0]", "$.notes[1]"]
    assert result.record is None
    assert result.protocol == "notes"


def test_too_deep_document_keeps_earlier_errors():
    raw = b'{"a": "\\u0000", "b": ' + b"[" * 64 + b"]" * 64 + b"}"

    paths = [problem.path for problem in try_parse(raw).errors]
    assert paths == ["$.a", "$.b" + "[0]" * 63]


def test_parse_returns_record_and_warnings():
    record, warnings = parse(build_notebook("milk", legacy=1))

    assert record.name == "Notebook"
    assert warnings == [Problem("$.legacy", "is deprecated")]


def test_parse_raises_parse_error_with_all_errors():
    with pytest.raises(ParseError) as caught:
        parse(build_notebook(" ", name=""))

    assert not isinstance(caught.value, ProtocolNotDetected)
    assert str(caught.value) == "The definition is not valid"
    assert caught.value.result.protocol == "notes"
    assert len(caught.value.result.errors) == 2


@pytest.mark.parametrize("raw", [b"{}", rb'{"a": "\u0000"}'])
def test_parse_raises_protocol_not_detected(raw):
    with pytest.raises(ProtocolNotDetected) as caught:
        parse(raw)

    assert "is not a definition" in caught.value.result.errors[-1].message


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"a":' * 70 + b"1" + b"}" * 70])
def test_unreadable_document_raises_plain_parse_error(raw):
    with pytest.raises(ParseError) as caught:
        parse(raw)

    assert type(caught.value) is ParseError


def test_five_thousand_capabilities_are_accepted():
    result = try_parse(build_notebook(*map(str, range(5_000))))

    assert result.is_valid
    assert len(result.record.capabilities) == 5_000


def test_more_than_five_thousand_capabilities_are_rejected():
    result = try_parse(build_notebook(*map(str, range(5_001))))

    assert result.errors == [Problem("$", "has 5001 capabilities; the limit is 5000")]


def test_later_duplicate_gets_disambiguated_name():
    result = try_parse(build_notebook("milk/red", "milk/blue", "eggs/blue"))

    assert get_names(result) == ["milk", "milk in blue", "eggs"]
    message = "another notes.note has this name; stored as 'milk in blue'"
    assert result.warnings == [Problem("$.notes[1]", message)]


def test_duplicate_without_disambiguated_name_is_numbered():
    result = try_parse(build_notebook("milk", "milk", "milk/red", "milk/red"))

    assert get_names(result) == ["milk", "milk (2)", "milk in red", "milk (3)"]


def test_numbering_skips_names_already_used():
    result = try_parse(build_notebook("milk", "milk (2)", "milk", "milk", "milk (2)"))

    assert get_names(result) == [
        "milk",
        "milk (2)",
        "milk (3)",
        "milk (4)",
        "milk (2) (2)",
    ]


def test_names_differing_in_case_or_space_are_distinct():
    assert get_names(try_parse(build_notebook("milk", "Milk", "milk "))) == [
        "milk",
        "Milk",
        "milk ",
    ]


def test_capabilities_of_different_kinds_may_share_a_name():
    card = {
        "name": "Card",
        "url": "https://a.example.com/",
        "skills": [{"name": "https://a.example.com/"}],
    }
    result = try_parse(json.dumps(card).encode())

    assert get_names(result) == ["https://a.example.com/"] * 2
    assert {capability.kind for capability in result.record.capabilities} == {
        "a2a.skill",
        "a2a.interface",
    }


def test_three_thousand_equal_names_become_unique():
    unique_names = get_names(try_parse(build_notebook(*["milk"] * 3_000)))

    assert unique_names == ["milk", *(f"milk ({n})" for n in range(2, 3_001))]


def test_long_name_is_cut_to_fit_its_number():
    result = try_parse(build_notebook(*["n" * 500] * 2_000))

    assert result.is_valid
    assert get_names(result)[0] == "n" * 500
    assert len(set(get_names(result))) == 2_000
    assert max(map(len, get_names(result))) == 500


def test_too_long_disambiguated_name_is_replaced_by_a_number():
    result = try_parse(build_notebook("n" * 300, f"{'n' * 300}/{'c' * 300}"))

    assert result.is_valid
    assert get_names(result)[1] == f"{'n' * 300} (2)"


def test_name_over_limit_is_an_error_without_warning():
    result = try_parse(build_notebook(*["n" * 501] * 2))

    message = "name must have at most 500 characters, but has 501"
    assert result.errors == [Problem(f"$.notes[{n}]", message) for n in (0, 1)]
    assert not result.warnings


def test_protocol_choices_list_registered_parsers():
    assert ("notes", "Notebook") in protocol_choices()
    assert ("a2a", "A2A") in protocol_choices()


def test_definition_of_another_protocol_is_rejected():
    with parsers.temporarily(A2AParser(), MCPParser()):
        result = try_parse(card_bytes(), "mcp")

    assert not result.is_valid
    assert result.errors == [Problem("$", "is a definition of A2A, not of MCP")]


@pytest.mark.parametrize(
    ("protocol", "endpoint", "expected"),
    [
        ("a2a", "https://a.example/", True),
        ("a2a", "http://a.example/", True),
        ("agui", "HTTPS://a.example/", True),
        ("mcp", "mcp:files", False),
        ("agui", "agui:Painter", False),
        ("config", "config:Analyst", False),
        ("agh", "agh://channel/peer", True),
        ("agh", "agh:peer", False),
        ("mcp", "agh://channel/peer", False),
        ("a2a", "httpsx://a.example/", False),
        ("a2a", "", False),
        ("unknown", "https://a.example/", True),
    ],
)
def test_can_be_probed_depends_on_protocol_and_endpoint(protocol, endpoint, expected):
    assert can_be_probed(protocol, endpoint) is expected
