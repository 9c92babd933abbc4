"""Plain YAML as JSON would have it: no anchors, no tags, one document."""

import re
from typing import Any

import yaml
from yaml.reader import Reader

from ..numbers import bounded, finite
from ..problems import DEPTH_LIMIT, Document, Problems, Unreadable, member, too_deep

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# As in YAML 1.2, where `no`, `1:30` and `2026-01-01` are texts.
WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# With a zero in front it is a code, and would lose it.
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
REAL = re.compile(
    r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def read_yaml(text: str, problems: Problems) -> Document:
    refuse_unprintable(text)
    try:
        return Composing(text, problems).document()
    except yaml.MarkedYAMLError as error:
        said = error.problem or error.context or "malformed"
        raise refusal(said, error.problem_mark or error.context_mark) from error
    except yaml.YAMLError as error:
        raise refusal("it cannot be read") from error


def refuse_unprintable(text: str) -> None:
    if found := Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        message = f"is not YAML: a control character at line {line} column {column}"
        raise Unreadable(message)


def refusal(message: str, mark: Any = None) -> Unreadable:
    place = f" at line {mark.line + 1} column {mark.column + 1}" if mark else ""
    return Unreadable(f"is not YAML: {message}{place}")


class Composing:
    """From events to a document: they come one by one, so that nothing can pile up."""

    def __init__(self, text: str, problems: Problems) -> None:
        self.events = yaml.parse(text, Loader=LOADER)
        self.problems = problems

    def document(self) -> Document:
        next(self.events)
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise Unreadable("is empty")
        if not isinstance(root := self.event(), yaml.MappingStartEvent):
            raise refusal("there must be keys and values", root.start_mark)
        document = self.mapping("$", 0)
        next(self.events)
        if not isinstance(more := next(self.events), yaml.StreamEndEvent):
            raise refusal("there must be one document", more.start_mark)
        return document

    def event(self) -> Any:
        """The next one, unless it could grow beyond its text or make objects."""
        event = next(self.events)
        if getattr(event, "anchor", None):
            raise refusal("anchors and aliases are not read", event.start_mark)
        if getattr(event, "tag", None):
            raise refusal("tags are not read", event.start_mark)
        return event

    def mapping(self, path: str, depth: int) -> Document:
        found: Document = {}
        while not isinstance(key := self.event(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise refusal("a key must be a text", key.start_mark)
            if key.value in found:
                message = f"member {key.value!r} is repeated; the last one counts"
                self.problems.warning(path, message)
            place = member(path, key.value)
            found[key.value] = self.value(self.event(), place, depth + 1)
        return found

    def sequence(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := self.event(), yaml.SequenceEndEvent):
            found.append(self.value(event, f"{path}[{len(found)}]", depth + 1))
        return found

    def value(self, event: Any, path: str, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event)
        if depth >= DEPTH_LIMIT:
            raise too_deep(path)
        inside = isinstance(event, yaml.MappingStartEvent)
        return self.mapping(path, depth) if inside else self.sequence(path, depth)


def scalar(event: Any) -> Any:
    text, is_plain = event.value, event.implicit[0]
    if not is_plain:
        return text
    if text in WORDS:
        return WORDS[text]
    if NO_NUMBER.fullmatch(text):
        raise refusal(f"{text} is no JSON value", event.start_mark)
    if REAL.fullmatch(text):
        return number(text)
    return text


def number(text: str) -> int | float:
    if not INTEGER.fullmatch(text):
        return finite(text)
    try:
        return bounded(int(text))
    except ValueError as error:  # an integer of thousands of digits
        raise Unreadable("holds a number that is too long") from error
