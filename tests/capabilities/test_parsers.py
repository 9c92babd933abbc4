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

    colour: str = ""

    def disambiguated_name(self):
        return f"{self.name} in {self.colour}" if self.colour else self.name


class NotesParser(Parser):
    """A protocol of another app: a name, and notes as `title` or `title/colour`."""

    slug = "notes"
    label = "Notebook"
    kinds = (Kind("notes.note", "Note", "notes", Note, discoverable=True),)
    detection_hint = "needs `notes`"

    def recognizes(self, document):
        return "notes" in document

    def parse(self, document, problems):
        if "odd" in document:
            problems.warning("$.odd", "is odd")
        notes = [title.partition("/") for title in document.get("notes", [])]
        return AgentRecord(
            protocol=self.slug,
            endpoint="notes:1",
            name=problems.required_string(document, "name"),
            spec_version=document.get("edition", ""),
            capabilities=tuple(
                Note(name=title, colour=colour, path=f"$.notes[{n}]")
                for n, (title, _, colour) in enumerate(notes)
            ),
        )


@pytest.fixture(autouse=True)
def _protocols():
    with parsers.temporarily(A2AParser(), NotesParser()):
        yield


def notebook(*notes, **members):
    document = {"name": "Notebook", "notes": list(notes)} | members
    return json.dumps(document).encode()


def names(reading: ParseResult) -> list[str]:
    return [capability.name for capability in reading.record.capabilities]


def test_a_protocol_of_another_app_is_detected():
    reading = try_parse(notebook("milk", edition="2"))

    assert reading.is_valid
    assert reading.protocol == "notes"
    assert reading.spec_version == "2"
    assert reading.record.capabilities == (Note(name="milk"),)


def test_a_protocol_is_forgotten_when_its_temporary_block_ends():
    class DiaryParser(NotesParser):
        slug = "diary"

        def recognizes(self, document):
            return "diary" in document

    raw = b'{"diary": 1, "name": "Diary"}'
    with parsers.temporarily(DiaryParser()):
        assert try_parse(raw).protocol == "diary"

    assert try_parse(raw).protocol == ""


def test_the_protocol_registered_first_wins():
    card = {"skills": [], "url": "https://a.example.com/"}

    assert try_parse(notebook(**card)).protocol == "a2a"


def test_a_protocol_asked_for_by_name_is_not_detected():
    card = {"skills": [], "url": "https://a.example.com/"}

    assert try_parse(notebook("milk", **card), "notes").protocol == "notes"


def test_an_agent_asked_for_as_a_card_is_judged_as_one():
    reading = try_parse(b"{}", "a2a")

    assert reading.protocol == "a2a"
    assert {problem.path for problem in reading.errors} == {
        "$.name",
        "$.skills",
        "$.supportedInterfaces",
    }


def test_a_document_of_no_known_protocol_tells_what_the_known_ones_need():
    reading = try_parse(b'{"hello": "world"}')

    assert not reading.is_valid
    assert (reading.protocol, reading.record, reading.spec_version) == ("", None, "")
    [problem] = reading.errors
    assert problem.path == "$"
    assert "A2A (an agent card needs `skills` with `url`" in problem.message
    assert "Notebook (needs `notes`)" in problem.message


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
def test_examining_raises_nothing_whatever_the_bytes(raw, protocol):
    reading = try_parse(raw, protocol)

    assert not reading.is_valid
    assert all(problem.message and problem.path for problem in reading.errors)
    assert reading.errors


def test_a_reading_without_errors_is_valid_whatever_its_warnings():
    reading = try_parse(notebook(odd=1))

    assert reading.is_valid
    assert reading.warnings == [Problem("$.odd", "is odd")]


def test_a_reading_without_a_record_is_not_valid():
    assert not ParseResult().valid


def test_every_error_is_told_not_just_the_first():
    reading = try_parse(notebook(" ", "n" * 501, name="", edition="e" * 256))

    assert [(problem.path, problem.message) for problem in reading.errors] == [
        ("$.name", "must be a non-empty string"),
        ("$.protocolVersion", "must be at most 255 characters, is 256"),
        ("$.notes[0]", "needs a name"),
        ("$.notes[1]", "name must be at most 500 characters, is 501"),
    ]


def test_every_unfit_text_is_told_before_anything_is_read_into_it():
    reading = try_parse(notebook("a\0", "b\0", name=""))

    assert [problem.path for problem in reading.errors] == ["$.notes[0]", "$.notes[1]"]
    assert reading.record is None
    assert reading.protocol == "notes"


def test_too_deep_a_document_keeps_the_errors_found_before():
    raw = b'{"a": "\\u0000", "b": ' + b"[" * 64 + b"]" * 64 + b"}"

    paths = [problem.path for problem in try_parse(raw).errors]
    assert paths == ["$.a", "$.b" + "[0]" * 63]


def test_parsing_gives_the_record_and_its_warnings():
    record, warnings = parse(notebook("milk", odd=1))

    assert record.name == "Notebook"
    assert warnings == [Problem("$.odd", "is odd")]


def test_parsing_raises_with_every_error():
    with pytest.raises(ParseError) as caught:
        parse(notebook(" ", name=""))

    assert not isinstance(caught.value, ProtocolNotDetected)
    assert str(caught.value) == "The definition is not valid"
    assert caught.value.result.protocol == "notes"
    assert len(caught.value.result.errors) == 2


@pytest.mark.parametrize("raw", [b"{}", rb'{"a": "\u0000"}'])
def test_parsing_says_when_nobody_recognises_the_document(raw):
    with pytest.raises(ProtocolNotDetected) as caught:
        parse(raw)

    assert "is not a definition" in caught.value.result.errors[-1].message


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"a":' * 70 + b"1" + b"}" * 70])
def test_what_cannot_be_read_is_another_matter_than_an_unknown_protocol(raw):
    with pytest.raises(ParseError) as caught:
        parse(raw)

    assert type(caught.value) is ParseError


def test_five_thousand_capabilities_are_accepted():
    reading = try_parse(notebook(*map(str, range(5_000))))

    assert reading.is_valid
    assert len(reading.record.capabilities) == 5_000


def test_five_thousand_and_one_are_not():
    reading = try_parse(notebook(*map(str, range(5_001))))

    assert reading.errors == [Problem("$", "has 5001 capabilities, over 5000")]


def test_the_first_keeps_the_plain_name_and_later_ones_get_a_telling_one():
    reading = try_parse(notebook("milk/red", "milk/blue", "eggs/blue"))

    assert names(reading) == ["milk", "milk in blue", "eggs"]
    message = "another notes.note has this name; kept as 'milk in blue'"
    assert reading.warnings == [Problem("$.notes[1]", message)]


def test_a_name_that_tells_nothing_new_is_numbered():
    reading = try_parse(notebook("milk", "milk", "milk/red", "milk/red"))

    assert names(reading) == ["milk", "milk (2)", "milk in red", "milk (3)"]


def test_a_number_that_is_taken_is_passed_over():
    reading = try_parse(notebook("milk", "milk (2)", "milk", "milk", "milk (2)"))

    assert names(reading) == [
        "milk",
        "milk (2)",
        "milk (3)",
        "milk (4)",
        "milk (2) (2)",
    ]


def test_names_differ_by_case_and_space():
    assert names(try_parse(notebook("milk", "Milk", "milk "))) == [
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
    reading = try_parse(json.dumps(card).encode())

    assert names(reading) == ["https://a.example.com/"] * 2
    assert {capability.kind for capability in reading.record.capabilities} == {
        "a2a.skill",
        "a2a.interface",
    }


def test_three_thousand_equal_names_become_as_many_different_ones():
    found = names(try_parse(notebook(*["milk"] * 3_000)))

    assert found == ["milk", *(f"milk ({n})" for n in range(2, 3_001))]


def test_a_long_name_is_cut_to_make_room_for_its_number():
    reading = try_parse(notebook(*["n" * 500] * 2_000))

    assert reading.is_valid
    assert names(reading)[0] == "n" * 500
    assert len(set(names(reading))) == 2_000
    assert max(map(len, names(reading))) == 500


def test_a_telling_name_that_is_too_long_gives_way_to_a_number():
    reading = try_parse(notebook("n" * 300, f"{'n' * 300}/{'c' * 300}"))

    assert reading.is_valid
    assert names(reading)[1] == f"{'n' * 300} (2)"


def test_an_overlong_name_is_an_error_and_nothing_else():
    reading = try_parse(notebook(*["n" * 501] * 2))

    message = "name must be at most 500 characters, is 501"
    assert reading.errors == [Problem(f"$.notes[{n}]", message) for n in (0, 1)]
    assert not reading.warnings


def test_protocols_are_offered_as_choices():
    assert ("notes", "Notebook") in protocol_choices()
    assert ("a2a", "A2A") in protocol_choices()


def test_a_definition_is_not_taken_for_one_of_another_protocol():
    with parsers.temporarily(A2AParser(), MCPParser()):
        reading = try_parse(card_bytes(), "mcp")

    assert not reading.is_valid
    assert reading.errors == [Problem("$", "is of protocol A2A, not MCP")]


@pytest.mark.parametrize(
    ("protocol", "endpoint", "reachable"),
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
        ("unheard-of", "https://a.example/", True),
    ],
)
def test_an_agent_is_reachable_where_it_can_be_asked_or_heard(
    protocol, endpoint, reachable
):
    assert can_be_probed(protocol, endpoint) is reachable
