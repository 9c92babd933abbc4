"""Parsing of definitions: protocol detection, parsers, validation of records."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from . import front_matter
from .capability_names import check_capabilities
from .connections import Connection, Endpoint
from .documents import decode_utf8, read_document
from .features import FEATURE_LABELS
from .health_requests import HealthRequest
from .interfaces import (
    CapabilityMerger,
    DefinitionExtender,
    EndpointPolicy,
    Introspector,
    PresencePolicy,
    StubBuilder,
    extenders,
    introspectors,
)
from .kinds import Kind
from .placeholders import find_name_template_error, has_template
from .problems import Document, Problem, Problems, UnreadableDocument
from .records import (
    CAPABILITY_LIMIT,
    AgentRecord,
    is_web_url,
)
from .registry import Registry
from .unsupported_formats import explain_unreadable, find_unsupported_format

logger = logging.getLogger(__name__)

CONNECTION_ERROR = "The connection details of this definition cannot be shown."


class Parser(ABC):
    """Reads the definitions of one protocol."""

    slug: str
    label: str
    kinds: tuple[Kind, ...]
    # Paths where hosts publish their definition, in the order to try them.
    well_known_paths: tuple[str, ...] = ()
    # Optional interfaces, for protocols that need them; see also `introspector` and
    # `extender`.
    presence_policy: PresencePolicy | None = None
    capability_merger: CapabilityMerger | None = None
    endpoint_policy: EndpointPolicy | None = None
    # Names of features that only this protocol defines.
    feature_names: tuple[str, ...] = ()
    stub_builder: StubBuilder | None = None
    # Whether definitions may also be YAML or TOML; JSON is always accepted.
    accepts_yaml_and_toml: bool = False
    # The source of entries registered from such definitions; "" for the default.
    source: str = ""
    # Records report errors at the paths that their members have in A2A cards. This maps
    # such paths to those of this protocol, where they differ.
    reported_paths: Mapping[str, str] = {}
    # The content type under which the original bytes are served.
    media_type: str = "application/json"

    @abstractmethod
    def recognizes(self, document: Document) -> bool:
        """Return whether the document is of this protocol, valid or not."""

    def recognizes_yaml_or_toml(self, document: Document) -> bool:
        """Return the same for a document that was written in YAML or TOML."""
        return self.recognizes(document)

    def definition_urls(self, url: str) -> list[str]:
        """Return where an agent at this URL may publish its definition, best first."""
        parts = urlsplit(url)
        base = parts._replace(path=parts.path.rstrip("/"), query="", fragment="")
        return [
            urlunsplit(base._replace(path=base.path + path))
            for path in self.well_known_paths
        ]

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        """Return how a client connects to the agent."""
        return Connection(endpoints=[Endpoint(record.endpoint, self.label)])

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        """Return the requests to try in order, until one shows the agent is alive."""
        return [HealthRequest(endpoint)]

    def can_be_probed(self, endpoint: str) -> bool:
        """Return whether the health of an agent at this endpoint can be checked."""
        return is_web_url(endpoint)

    @property
    def introspector(self) -> Introspector | None:
        """The registered introspector of this protocol, or None if there is none."""
        return introspectors.get(self.slug)

    @property
    def extender(self) -> DefinitionExtender | None:
        """The registered extender of this protocol, or None if there is none."""
        return extenders.get(self.slug)

    @property
    def requires_endpoint(self) -> bool:
        """Whether callers must supply the endpoint with a definition."""
        return self.endpoint_policy is not None and self.endpoint_policy.is_required

    @abstractmethod
    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        """Return the record of a document; add errors and warnings to `problems`."""


parsers: Registry[Parser] = Registry("Protocol")


def protocol_choices() -> list[tuple[str, str]]:
    """Return choices for model fields; a plain function because migrations name it."""
    return parsers.choices()


def list_defined_features() -> list[str]:
    """Return the names of the features that AG-UI or another protocol defines."""
    protocol_names = (name for parser in parsers for name in parser.feature_names)
    return [*FEATURE_LABELS, *protocol_names]


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The record of a definition and the problems that parsing found."""

    protocol: str = ""
    record: AgentRecord | None = None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    # Whether the document is readable, but no protocol recognizes it.
    is_unknown_protocol: bool = False

    @property
    def is_valid(self) -> bool:
        return self.record is not None and not self.errors

    @property
    def spec_version(self) -> str:
        return self.record.spec_version if self.record else ""


class ParseError(Exception):
    """A definition is invalid; `result` has every error."""

    message = "The definition is not valid"

    def __init__(self, result: ParseResult) -> None:
        super().__init__(self.message)
        self.result = result


class ProtocolNotDetected(ParseError):
    """No registered protocol recognizes the document."""

    message = "The protocol of the definition is not supported"


def try_parse(
    raw: bytes, protocol: str = "", endpoint: str = "", base_url: str = ""
) -> ParseResult:
    """Parse a definition and return record and problems, without raising.

    `endpoint` is the agent's URL, for definitions that do not contain it. `base_url` is
    where the definition was fetched, for its relative URLs.
    """
    problems = Problems(base_url=base_url)
    parser = parsers.get(protocol)
    record, is_unknown = None, False
    try:
        document = read_document(raw, problems)
        is_yaml = front_matter.is_yaml_or_toml(decode_utf8(raw))
        detected = detect_parser(document, endpoint, is_yaml=is_yaml)
        parser = parser or detected
        if parser is None:
            is_unknown = True
            problems.error("$", not_detected_message(document, is_yaml=is_yaml))
        elif detected and not is_recognized(
            parser, document, endpoint, is_yaml=is_yaml
        ):
            problems.error(
                "$", f"is a definition of {detected.label}, not of {parser.label}"
            )
        elif is_yaml and not parser.accepts_yaml_and_toml:
            problems.error("$", f"must be JSON, the only format of {parser.label}")
        elif not problems.errors:
            document = with_endpoint(parser, document, endpoint, base_url)
            record = build_record(parser, document, problems)
    except UnreadableDocument as error:
        problems.errors.append(explain_unreadable(error.problem, raw))
    slug = parser.slug if parser else ""
    return ParseResult(slug, record, problems.errors, problems.warnings, is_unknown)


def with_endpoint(
    parser: Parser, document: Document, endpoint: str, base_url: str = ""
) -> Document:
    policy = parser.endpoint_policy
    return policy.with_endpoint(document, endpoint, base_url) if policy else document


def parse(
    raw: bytes, protocol: str = "", endpoint: str = "", base_url: str = ""
) -> tuple[AgentRecord, list[Problem]]:
    """Return record and warnings of a valid definition; raise ParseError otherwise."""
    result = try_parse(raw, protocol, endpoint, base_url)
    if result.record is not None and not result.errors:
        return result.record, result.warnings
    if result.is_unknown_protocol:
        raise ProtocolNotDetected(result)
    raise ParseError(result)


def is_definition(raw: bytes, protocol: str) -> bool:
    """Return whether the protocol recognizes the document, or it is unreadable."""
    parser = parsers.get(protocol)
    try:
        document = read_document(raw, Problems())
    except UnreadableDocument:
        return True
    return parser is not None and parser.recognizes(document)


def find_endpoint_error(raw: bytes, protocol: str = "") -> str:
    """Return why no endpoint may be supplied with a definition, or ""."""
    result = try_parse(raw, protocol)
    parser = parsers.get(result.protocol)
    if parser is not None and parser.endpoint_policy is None:
        return f"cannot be supplied: definitions of {parser.label} need no URL"
    if result.record is not None and result.record.has_address:
        return "cannot be supplied: the definition contains the URL of the agent"
    return ""


def requires_endpoint(raw: bytes, protocol: str = "") -> bool:
    """Return whether the definition is of a protocol without endpoints in them."""
    parser = parsers.get(protocol)
    if parser is None:
        try:
            parser = detect_parser(read_document(raw, Problems()))
        except UnreadableDocument:
            return False
    return parser is not None and parser.requires_endpoint


def parse_unchecked(
    raw: bytes, protocol: str, endpoint: str = "", base_url: str = ""
) -> AgentRecord | None:
    """Return the record of a stored definition, with capability names as written.

    Unlike `parse`, it neither validates the record nor makes names unique. Return None
    if the protocol is not registered.
    """
    parser = parsers.get(protocol)
    if parser is None:
        return None
    problems = Problems(base_url=base_url)
    document = read_document(raw, problems)
    document = with_endpoint(parser, document, endpoint, base_url)
    return parser.parse(document, problems)


def get_connection(
    raw: bytes, protocol: str, endpoint: str = "", base_url: str = ""
) -> Connection:
    """Return how to connect to the agent of a stored definition.

    Never raise: a page must be displayed whatever the definition contains.
    """
    parser = parsers.get(protocol)
    try:
        record = try_parse(raw, protocol, endpoint, base_url).record
        if parser is None or record is None:
            return Connection()
        # An earlier version of AgentLens may have read another endpoint.
        record = replace(record, endpoint=endpoint or record.endpoint)
        return parser.build_connection(read_document(raw, Problems()), record)
    except Exception:
        logger.exception("Building the connection of a %s definition failed", protocol)
        return Connection(unavailable_reason=CONNECTION_ERROR)


def is_stub(raw: bytes, protocol: str) -> bool:
    """Return whether a stored definition is a stub."""
    parser = parsers.get(protocol)
    if parser is None or parser.stub_builder is None:
        return False
    try:
        return parser.stub_builder.is_stub(read_document(raw, Problems()))
    except UnreadableDocument:
        return False


def can_be_probed(protocol: str, endpoint: str) -> bool:
    parser = parsers.get(protocol)
    return parser.can_be_probed(endpoint) if parser else is_web_url(endpoint)


def has_capability_merger(protocol: str) -> bool:
    parser = parsers.get(protocol)
    return parser is not None and parser.capability_merger is not None


def get_source(protocol: str) -> str:
    parser = parsers.get(protocol)
    return parser.source if parser else ""


def get_media_type(protocol: str) -> str:
    return (parsers.get(protocol) or Parser).media_type


def detect_parser(
    document: Document, endpoint: str = "", *, is_yaml: bool = False
) -> Parser | None:
    """Return the first registered parser that recognizes the document.

    If none does, return the first that recognizes it with the supplied endpoint.
    `is_yaml` is whether the document was written in YAML or TOML.
    """
    for known_endpoint in dict.fromkeys(("", endpoint)):
        for parser in parsers:
            if is_recognized(parser, document, known_endpoint, is_yaml=is_yaml):
                return parser
    return None


def is_recognized(
    parser: Parser, document: Document, endpoint: str, *, is_yaml: bool
) -> bool:
    document = with_endpoint(parser, document, endpoint)
    if is_yaml:
        return parser.recognizes_yaml_or_toml(document)
    return parser.recognizes(document)


def not_detected_message(document: Document, *, is_yaml: bool = False) -> str:
    """Return what the document is, if that is known, and what to do instead."""
    if unsupported := find_unsupported_format(document, is_yaml=is_yaml):
        return unsupported.message
    labels = ", ".join(parser.label for parser in parsers)
    return (
        f"is not a definition of a supported protocol ({labels}); submit it with its"
        " protocol to see what is missing, and with the URL of the agent if it has none"
    )


def build_record(parser: Parser, document: Document, problems: Problems) -> AgentRecord:
    """Parse the document and check the record by the rules of all protocols."""
    record = parser.parse(document, problems)
    for path, message in record.validate():
        problems.error(parser.reported_paths.get(path, path), message)
    check_templates(parser, record, problems)
    if len(record.capabilities) > CAPABILITY_LIMIT:
        count = len(record.capabilities)
        problems.error(
            "$", f"has {count} capabilities; the limit is {CAPABILITY_LIMIT}"
        )
        return record
    capabilities = tuple(check_capabilities(record.capabilities, problems))
    return replace(record, capabilities=capabilities)


def check_templates(parser: Parser, record: AgentRecord, problems: Problems) -> None:
    """Add an error for an unfilled template in the name, a warning for the version."""
    message = find_name_template_error(record.name)
    # The parser may have reported it, at the path of another member.
    if message and message not in {problem.message for problem in problems.errors}:
        problems.error(parser.reported_paths.get("$.name", "$.name"), message)
    if has_template(record.version):
        path = parser.reported_paths.get("$.version", "$.version")
        problems.warning(path, "contains an unfilled template")
