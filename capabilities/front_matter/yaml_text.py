"""Reading plain YAML into the types of JSON: one document, no anchors, no tags."""

import re
from typing import Any

import yaml
from yaml.reader import Reader

from ..numbers import build_long_integer_error, check_int64, parse_finite_float
from ..problems import (
    DEPTH_LIMIT,
    Document,
    Problems,
    UnreadableDocument,
    build_too_deep_error,
    member_path,
)

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# As in YAML 1.2, where `no`, `1:30` and `2026-01-01` are strings.
CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Digits after a leading zero, such as those of a postal code, stay a string.
YAML_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
YAML_NUMBER = re.compile(
    r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def read_yaml(text: str, problems: Problems) -> Document:
    """Return the document; raise UnreadableDocument if it is not plain YAML."""
    reject_control_characters(text)
    try:
        return YAMLDocumentReader(text, problems).read()
    except yaml.MarkedYAMLError as error:
        message = error.problem or error.context or "malformed"
        mark = error.problem_mark or error.context_mark
        raise build_yaml_error(message, mark) from error
    except yaml.YAMLError as error:
        raise build_yaml_error("invalid syntax") from error


def reject_control_characters(text: str) -> None:
    if match := Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, match.start()) + 1
        column = match.start() - text.rfind("\n", 0, match.start())
        raise build_yaml_error(f"a control character at line {line} column {column}")


def build_yaml_error(message: str, mark: Any = None) -> UnreadableDocument:
    position = f" at line {mark.line + 1} column {mark.column + 1}" if mark else ""
    return UnreadableDocument(f"cannot be read as YAML: {message}{position}")


class YAMLDocumentReader:
    """Builds a document from parser events, one at a time.

    Aliases are rejected before they can expand, so memory use stays bounded.
    """

    def __init__(self, text: str, problems: Problems) -> None:
        self.events = yaml.parse(text, Loader=LOADER)
        self.problems = problems

    def read(self) -> Document:
        next(self.events)
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise UnreadableDocument("is empty")
        if not isinstance(root := self.next_event(), yaml.MappingStartEvent):
            raise build_yaml_error("the document must be a mapping", root.start_mark)
        document = self.read_mapping("$", 0)
        next(self.events)
        if not isinstance(event := next(self.events), yaml.StreamEndEvent):
            raise build_yaml_error("there must be only one document", event.start_mark)
        return document

    def next_event(self) -> Any:
        event = next(self.events)
        if getattr(event, "anchor", None):
            message = "anchors and aliases are not supported"
            raise build_yaml_error(message, event.start_mark)
        if getattr(event, "tag", None):
            raise build_yaml_error("tags are not supported", event.start_mark)
        return event

    def read_mapping(self, path: str, depth: int) -> Document:
        mapping: Document = {}
        while not isinstance(key := self.next_event(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise build_yaml_error("a key must be a string", key.start_mark)
            if key.value in mapping:
                message = f"member {key.value!r} is repeated"
                self.problems.repeated_member(path, message)
            value_path = member_path(path, key.value)
            value = self.read_value(self.next_event(), value_path, depth + 1)
            mapping[key.value] = value
        return mapping

    def read_sequence(self, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self.next_event(), yaml.SequenceEndEvent):
            items.append(self.read_value(event, f"{path}[{len(items)}]", depth + 1))
        return items

    def read_value(self, event: Any, path: str, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return parse_scalar(event)
        if depth >= DEPTH_LIMIT:
            raise build_too_deep_error(path)
        if isinstance(event, yaml.MappingStartEvent):
            return self.read_mapping(path, depth)
        return self.read_sequence(path, depth)


def parse_scalar(event: Any) -> Any:
    text, is_plain = event.value, event.implicit[0]
    if not is_plain:
        return text
    if text in CONSTANTS:
        return CONSTANTS[text]
    if NOT_FINITE.fullmatch(text):
        raise build_yaml_error(f"{text} is not a JSON value", event.start_mark)
    if YAML_NUMBER.fullmatch(text):
        return parse_number(text)
    return text


def parse_number(text: str) -> int | float:
    if not YAML_INTEGER.fullmatch(text):
        return parse_finite_float(text)
    try:
        return check_int64(int(text))
    except ValueError as error:  # Python limits the digits of an integer
        raise build_long_integer_error() from error
