"""From a definition to a record: who understands it, and what it says."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .asking import Ask
from .connections import Connection, Way
from .documents import Unreadable, read
from .kinds import Kind
from .problems import Document, Problem, Problems, member
from .records import CAPABILITY_LIMIT, NAME_LIMIT, AgentRecord, CapabilityRecord
from .registry import Registry

# As much of a name as leaves room for the highest number.
STEM_LIMIT = NAME_LIMIT - len(f" ({CAPABILITY_LIMIT})")


class Parser(ABC):
    """One protocol's way of describing an agent."""

    slug: str
    label: str
    kinds: tuple[Kind, ...]
    # What a document must hold to be recognised, told when none is.
    expects: str
    # Where a host publishes its definition, in the order to ask.
    well_known: tuple[str, ...] = ()

    @abstractmethod
    def recognises(self, document: Document) -> bool:
        """Whether the document is of this protocol, however faulty."""

    def connection(self, document: Document, record: AgentRecord) -> Connection:
        """How a client reaches the agent; protocols that know more say more."""
        return Connection(ways=[Way(record.endpoint, self.label)])

    def asks(self, endpoint: str, definition_url: str) -> list[Ask]:
        """What to ask, in turn, until an answer shows that the agent lives."""
        return [Ask(endpoint)]

    @abstractmethod
    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        """What the document says; everything amiss goes to `problems`."""


parsers: Registry[Parser] = Registry("Protocol")


def protocol_choices() -> list[tuple[str, str]]:
    """Choices for fields; a plain function, so that migrations can name it."""
    return parsers.choices()


class ParseError(Exception):
    """A definition that cannot be catalogued, with every reason why."""

    def __init__(self, reading: "Reading") -> None:
        super().__init__("The definition is not valid")
        self.reading = reading


class ProtocolNotDetected(ParseError):
    """No registered protocol recognises the document."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that reading a definition brought to light."""

    protocol: str = ""
    record: AgentRecord | None = None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        return self.record is not None and not self.errors

    @property
    def spec_version(self) -> str:
        return self.record.spec_version if self.record else ""


def examine(raw: bytes, protocol: str = "") -> Reading:
    """Read a definition and report; raises nothing, whatever the bytes."""
    problems = Problems()
    parser = parsers.get(protocol)
    record = None
    try:
        document = read(raw, problems)
        detected = detect(document)
        parser = parser or detected
        if parser is None:
            problems.error("$", undetected())
        elif detected and not parser.recognises(document):
            problems.error("$", f"is of protocol {detected.label}, not {parser.label}")
        elif not problems.errors:
            record = understand(parser, document, problems)
    except Unreadable as unreadable:
        problems.errors.append(unreadable.problem)
    slug = parser.slug if parser else ""
    return Reading(slug, record, problems.errors, problems.warnings)


def parse(raw: bytes, protocol: str = "") -> tuple[AgentRecord, list[Problem]]:
    """The record and its warnings; raises ParseError with every error otherwise."""
    reading = examine(raw, protocol)
    if reading.record is not None and not reading.errors:
        return reading.record, reading.warnings
    unknown = Problem("$", undetected()) in reading.errors
    raise ProtocolNotDetected(reading) if unknown else ParseError(reading)


def connection_of(raw: bytes, protocol: str) -> Connection:
    """How to reach the agent of a definition that was catalogued."""
    parser, record = parsers.get(protocol), examine(raw, protocol).record
    if parser is None or record is None:
        return Connection()
    return parser.connection(read(raw, Problems()), record)


def detect(document: Document) -> Parser | None:
    """The first registered protocol that recognises the document."""
    return next((parser for parser in parsers if parser.recognises(document)), None)


def undetected() -> str:
    known = "; ".join(f"{parser.label} ({parser.expects})" for parser in parsers)
    return f"is not a definition of a known protocol: {known}"


def understand(parser: Parser, document: Document, problems: Problems) -> AgentRecord:
    """The parser's record, checked by the rules that hold for every protocol."""
    record = parser.parse(document, problems)
    for place, message in record.validate():
        problems.error(place, message)
    if len(record.capabilities) > CAPABILITY_LIMIT:
        count = len(record.capabilities)
        problems.error("$", f"has {count} capabilities, over {CAPABILITY_LIMIT}")
        return record
    return replace(record, capabilities=tuple(distinct(record.capabilities, problems)))


def distinct(
    capabilities: Iterable[CapabilityRecord], problems: Problems
) -> Iterator[CapabilityRecord]:
    """The capabilities, each valid and under a name of its own within its kind."""
    taken: Counter[tuple[str, str]] = Counter()
    nameless = {problem.path for problem in problems.errors}
    for capability in capabilities:
        faults = list(capability.validate())
        for message in faults:
            if member(capability.path, "name") not in nameless:
                problems.error(capability.path, message)
        name = capability.name if faults else free_name(capability, taken)
        if name != capability.name:
            message = f"another {capability.kind} has this name; kept as {name!r}"
            problems.warning(capability.path, message)
        taken[capability.kind, name] += 1
        yield replace(capability, name=name)


def free_name(capability: CapabilityRecord, taken: Counter[tuple[str, str]]) -> str:
    """Its plain name, else a telling one, else a numbered one; never too long."""
    kind, plain = capability.kind, capability.name
    for name in (plain, capability.telling_name()):
        if not taken[kind, name] and len(name) <= NAME_LIMIT:
            return name
    stem = plain[:STEM_LIMIT]
    while taken[kind, name := f"{stem} ({taken[kind, stem] + 1})"]:
        taken[kind, stem] += 1
    return name
