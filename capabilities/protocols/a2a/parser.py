"""A2A agent cards, revisions 0.2, 0.3 and 1.0, and cards that are two at once."""

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin

from ...connections import Connection
from ...health_requests import HealthRequest
from ...parsers import Parser
from ...problems import Document, Problems, member_path, url_error
from ...records import CAPABILITY_NAME_LIMIT, AgentRecord, ProviderRecord
from .connection import build_connection
from .features import read_features, read_media
from .records import KINDS, A2AExtension, A2AInterface, A2ASkill
from .security import read_requirements, read_schemes, read_signatures

CARD_MEMBERS = {
    "additionalInterfaces",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "description",
    "documentationUrl",
    "iconUrl",
    "name",
    "preferredTransport",
    "protocolVersion",
    "provider",
    "security",
    "securityRequirements",
    "securitySchemes",
    "signatures",
    "skills",
    "supportedInterfaces",
    "supportsAuthenticatedExtendedCard",
    "url",
    "version",
}
SKILL_MEMBERS = {
    "description",
    "examples",
    "id",
    "inputModes",
    "name",
    "outputModes",
    "security",
    "securityRequirements",
    "tags",
}
INTERFACE_MEMBERS = {"protocolVersion", "tenant", "url"}
EXTENSION_MEMBERS = {"description", "params", "required", "uri"}
MODES = ("defaultInputModes", "defaultOutputModes")
# What tells a card of revision 0.3 from one of 0.2.
SINCE_V03 = (
    "protocolVersion",
    "preferredTransport",
    "additionalInterfaces",
    "signatures",
)


class A2AParser(Parser):
    slug = "a2a"
    label = "A2A"
    detection_hint = "an agent card needs `skills` with `url` or `supportedInterfaces`"
    well_known = ("/.well-known/agent-card.json", "/.well-known/agent.json")
    kinds = KINDS

    def recognizes(self, document: Document) -> bool:
        if "supportedInterfaces" in document:
            return True
        card_like = {"url", "protocolVersion", "preferredTransport"} & document.keys()
        return "skills" in document and bool(card_like)

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        """For the card: where it came from, else where cards are kept."""
        if definition_url:
            return [HealthRequest(definition_url)]
        return [HealthRequest(urljoin(endpoint, path)) for path in self.well_known]

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        problems.warn_unknown(document, CARD_MEMBERS)
        expect(document, ("description", "version", "capabilities", *MODES), problems)
        interfaces = read_interfaces(document, problems)
        flags = problems.object(document, "capabilities")
        modes = [problems.string_list(document, key) or [] for key in MODES]
        return AgentRecord(
            protocol=self.slug,
            endpoint=endpoint(interfaces, document, problems),
            name=problems.required_string(document, "name"),
            description=problems.string(document, "description"),
            version=problems.string(document, "version"),
            spec_version=spec_version(document, problems),
            provider=read_provider(document, problems),
            capabilities=(
                *(skills := list(read_skills(document, modes, problems))),
                *interfaces,
                *read_schemes(document, problems),
                *read_extensions(flags, problems),
                *read_signatures(document, problems),
                *read_features(document, flags, problems),
                *read_media(skills, modes),
            ),
        )


def expect(
    stated: Document, keys: Iterable[str], problems: Problems, at: str = "$"
) -> None:
    """Tell of members that A2A requires, and many cards do without."""
    for key in keys:
        if stated.get(key) is None:
            problems.warning(member_path(at, key), "is required by A2A; missing")


def is_v1(document: Document) -> bool:
    """Revision 1.0 lists its interfaces; such fields win in a dual card."""
    interfaces = document.get("supportedInterfaces")
    return isinstance(interfaces, list) and bool(interfaces)


def spec_version(document: Document, problems: Problems) -> str:
    if is_v1(document):
        first = document["supportedInterfaces"][0]
        said = first.get("protocolVersion") if isinstance(first, dict) else None
        return said if isinstance(said, str) and said else "1.0"
    if all(document.get(key) is None for key in SINCE_V03):
        return "0.2"
    return problems.string(document, "protocolVersion") or "0.3.0"


def read_interfaces(document: Document, problems: Problems) -> list[A2AInterface]:
    """Each way to reach the agent once, the preferred one first."""
    return list(dict.fromkeys(stated_interfaces(document, problems)))


def stated_interfaces(document: Document, problems: Problems) -> Iterator[A2AInterface]:
    if is_v1(document):
        for path, stated in problems.iter_objects(document, "supportedInterfaces"):
            expect(stated, ("protocolBinding", "protocolVersion"), problems, path)
            yield read_interface(path, stated, "protocolBinding", problems)
        return
    if document.get("supportedInterfaces"):
        problems.warning("$.supportedInterfaces", "should be a list; ignored")
    url = problems.string(document, "url")
    if url.strip():
        binding = problems.string(document, "preferredTransport") or "JSONRPC"
        yield A2AInterface(name=label(url), url=url, binding=binding, path="$.url")
    for path, stated in problems.iter_objects(document, "additionalInterfaces"):
        expect(stated, ("transport",), problems, path)
        yield read_interface(path, stated, "transport", problems)


def read_interface(
    path: str, stated: Document, binding: str, problems: Problems
) -> A2AInterface:
    problems.warn_unknown(stated, INTERFACE_MEMBERS | {binding}, path)
    url = problems.required_string(stated, "url", path)
    return A2AInterface(
        name=label(url),
        url=url,
        binding=problems.string(stated, binding, path),
        protocol_version=problems.string(stated, "protocolVersion", path),
        tenant=problems.string(stated, "tenant", path) or None,
        path=path,
    )


def label(url: str) -> str:
    """A URL as a name; an endless one is cut here and whole in `url`."""
    return (
        url
        if len(url) <= CAPABILITY_NAME_LIMIT
        else url[: CAPABILITY_NAME_LIMIT - 1] + "…"
    )


def endpoint(
    interfaces: list[A2AInterface], document: Document, problems: Problems
) -> str:
    """The preferred web address; a gRPC target is listed, but is no identity."""
    faults = [(stated, url_error(stated.url)) for stated in interfaces if stated.url]
    fit = [interface.url for interface, fault in faults if not fault]
    for interface, fault in faults:
        if fault and fit:
            problems.warning(interface.path, f"url {fault}; shown, never opened")
        elif fault:
            problems.error(interface.path, f"url {fault}")
    if not interfaces:
        place = "$.supportedInterfaces" if "url" not in document else "$.url"
        problems.error(place, "the card names no endpoint: it needs an http(s) URL")
    return fit[0] if fit else ""


def read_provider(document: Document, problems: Problems) -> ProviderRecord | None:
    stated = problems.object(document, "provider")
    problems.warn_unknown(stated, {"organization", "url"}, "$.provider")
    organization = problems.string(stated, "organization", "$.provider").strip()
    url = problems.url(stated, "url", "$.provider")
    if stated and not organization:
        problems.warning("$.provider.organization", "is missing; provider ignored")
    return ProviderRecord(organization, url=url) if organization else None


def read_skills(
    document: Document, modes: list[list[str]], problems: Problems
) -> Iterator[A2ASkill]:
    if document.get("skills") is None:
        problems.error("$.skills", "must be a list of objects")
    for path, stated in problems.iter_objects(document, "skills"):
        problems.warn_unknown(stated, SKILL_MEMBERS, path)
        expect(stated, ("id", "description", "tags"), problems, path)
        yield read_skill(path, stated, modes, problems)


def read_skill(
    path: str, stated: Document, modes: list[list[str]], problems: Problems
) -> A2ASkill:
    """One skill; modes it does not state are the card's."""
    default_inputs, default_outputs = modes
    return A2ASkill(
        name=problems.required_string(stated, "name", path),
        description=problems.string(stated, "description", path),
        id=problems.string(stated, "id", path),
        tags=problems.string_list(stated, "tags", path) or [],
        input_modes=problems.string_list(stated, "inputModes", path) or default_inputs,
        output_modes=problems.string_list(stated, "outputModes", path)
        or default_outputs,
        security=read_requirements(stated, problems, path),
        path=path,
    )


def read_extensions(flags: Document, problems: Problems) -> Iterator[A2AExtension]:
    for path, stated in problems.iter_objects(flags, "extensions", "$.capabilities"):
        problems.warn_unknown(stated, EXTENSION_MEMBERS, path)
        uri = problems.string(stated, "uri", path)
        if not uri.strip():
            problems.warning(path, "extension without a uri; ignored")
            continue
        yield A2AExtension(
            name=uri,
            description=problems.string(stated, "description", path),
            uri=uri,
            required=problems.boolean(stated, "required", path) or False,
            params=problems.object(stated, "params", path) or None,
            path=path,
        )
