"""From a definition to a record: who understands it, and what it says."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from . import front_matter
from .connections import Connection, Way
from .documents import decoded, read
from .health_requests import Ask
from .interfaces import (
    CapabilityMerger,
    EndpointPolicy,
    Introspector,
    PresencePolicy,
    introspectors,
)
from .kinds import Kind
from .problems import Document, Problem, Problems, Unreadable, member
from .records import CAPABILITY_LIMIT, NAME_LIMIT, AgentRecord, CapabilityRecord, is_web
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
    # The optional interfaces, for protocols that need them; and `introspector`.
    presence_policy: PresencePolicy | None = None
    capability_merger: CapabilityMerger | None = None
    endpoint_policy: EndpointPolicy | None = None
    # Whether its definitions may be YAML or TOML; all others are JSON.
    front_matter: bool = False
    # An entry's source when somebody handed over such a definition; "" for the usual.
    source: str = ""
    # Where its definitions have what every agent has, if not where A2A has it.
    places: Mapping[str, str] = {}
    # As what the exact bytes are given out again.
    media_type: str = "application/json"

    @abstractmethod
    def recognises(self, document: Document) -> bool:
        """Whether the document is of this protocol, however faulty."""

    def published(self, url: str) -> list[str]:
        """Where an agent at this URL may publish its definition, likeliest first."""
        parts = urlsplit(url)
        base = parts._replace(path=parts.path.rstrip("/"), query="", fragment="")
        return [
            urlunsplit(base._replace(path=base.path + path)) for path in self.well_known
        ]

    def connection(self, document: Document, record: AgentRecord) -> Connection:
        """How a client reaches the agent; protocols that know more say more."""
        return Connection(ways=[Way(record.endpoint, self.label)])

    def asks(self, endpoint: str, definition_url: str) -> list[Ask]:
        """What to ask, in turn, until an answer shows that the agent lives."""
        return [Ask(endpoint)]

    def is_reachable(self, endpoint: str) -> bool:
        """Whether an agent there can be asked or heard; if not, its word must do."""
        return is_web(endpoint)

    @property
    def introspector(self) -> Introspector | None:
        """Asks a running agent for its whole definition, where the protocol can."""
        return introspectors.get(self.slug)

    @property
    def requires_endpoint(self) -> bool:
        """Whether its definitions do not say where the agent is."""
        return self.endpoint_policy is not None

    @abstractmethod
    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        """What the document says; everything amiss goes to `problems`."""


parsers: Registry[Parser] = Registry("Protocol")


def protocol_choices() -> list[tuple[str, str]]:
    """Choices for fields; a plain function, so that migrations can name it."""
    return parsers.choices()


class ParseError(Exception):
    """A definition that cannot be catalogued, with every reason why."""

    words = "The definition is not valid"

    def __init__(self, reading: "Reading") -> None:
        super().__init__(self.words)
        self.reading = reading


class ProtocolNotDetected(ParseError):
    """No registered protocol recognises the document."""

    words = "The definition is of no protocol that we know"


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


def examine(raw: bytes, protocol: str = "", endpoint: str = "") -> Reading:
    """Read a definition and report; raises nothing, whatever the bytes.

    `endpoint` is where the agent is, for protocols whose definitions do not say.
    """
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
        elif not parser.front_matter and front_matter.opens(decoded(raw)):
            problems.error("$", f"must be JSON: {parser.label} has no other form")
        elif not problems.errors:
            placed = with_endpoint(parser, document, endpoint)
            record = understand(parser, placed, problems)
    except Unreadable as unreadable:
        problems.errors.append(unreadable.problem)
    slug = parser.slug if parser else ""
    return Reading(slug, record, problems.errors, problems.warnings)


def with_endpoint(parser: Parser, document: Document, endpoint: str) -> Document:
    policy = parser.endpoint_policy
    return policy.with_endpoint(document, endpoint) if policy else document


def parse(
    raw: bytes, protocol: str = "", endpoint: str = ""
) -> tuple[AgentRecord, list[Problem]]:
    """The record and its warnings; raises ParseError with every error otherwise."""
    reading = examine(raw, protocol, endpoint)
    if reading.record is not None and not reading.errors:
        return reading.record, reading.warnings
    unknown = Problem("$", undetected()) in reading.errors
    raise ProtocolNotDetected(reading) if unknown else ParseError(reading)


def stated(raw: bytes, protocol: str, endpoint: str = "") -> AgentRecord | None:
    """What a catalogued definition says, each thing by the very name it has there."""
    parser = parsers.get(protocol)
    if parser is None:
        return None
    document = with_endpoint(parser, read(raw, Problems()), endpoint)
    return parser.parse(document, Problems())


def connection_of(raw: bytes, protocol: str, endpoint: str = "") -> Connection:
    """How to reach the agent of a definition that was catalogued."""
    parser = parsers.get(protocol)
    record = examine(raw, protocol, endpoint).record
    if parser is None or record is None:
        return Connection()
    return parser.connection(read(raw, Problems()), record)


def is_reachable(protocol: str, endpoint: str) -> bool:
    parser = parsers.get(protocol)
    return parser.is_reachable(endpoint) if parser else is_web(endpoint)


def merges_capabilities(protocol: str) -> bool:
    parser = parsers.get(protocol)
    return parser is not None and parser.capability_merger is not None


def source_of(protocol: str) -> str:
    parser = parsers.get(protocol)
    return parser.source if parser else ""


def media_type_of(protocol: str) -> str:
    return (parsers.get(protocol) or Parser).media_type


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
        problems.error(parser.places.get(place, place), message)
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
