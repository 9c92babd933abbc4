"""The parser for A2A agent cards of revisions 0.2, 0.3 and 1.0.

Dual cards combine the members of 1.0 with those of an older revision.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin

from ...connections import Connection
from ...health_requests import Expectation, HealthRequest, HealthResponse
from ...parsers import Parser
from ...problems import Document, Problems, member_path
from ...records import (
    CAPABILITY_NAME_LIMIT,
    AgentRecord,
    CapabilityRecord,
    ProviderRecord,
)
from .addresses import CardEndpointPolicy, build_identity, select_interface
from .authentication import read_authentication
from .connection import build_connection
from .features import (
    OWN_FEATURE_NAMES,
    DefaultModes,
    read_features,
    read_media_features,
)
from .records import KINDS, A2AExtension, A2AInterface, A2ASkill
from .security import read_requirements, read_schemes, read_signatures
from .stub import STUB_MEMBER, A2AStubBuilder

AGENT_CARD_MEMBERS = {
    "additionalInterfaces",
    "authentication",
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
REQUIRED_CARD_MEMBERS = (
    "description",
    "version",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
)
# Revision 0.2 does not have these members.
V03_MEMBERS = (
    "protocolVersion",
    "preferredTransport",
    "additionalInterfaces",
    "signatures",
)


class A2AParser(Parser):
    slug = "a2a"
    label = "A2A"
    well_known_paths = ("/.well-known/agent-card.json", "/.well-known/agent.json")
    feature_names = OWN_FEATURE_NAMES
    kinds = KINDS
    endpoint_policy = CardEndpointPolicy()
    stub_builder = A2AStubBuilder()

    def recognizes(self, document: Document) -> bool:
        if "supportedInterfaces" in document:
            return True
        card_members = {"url", "protocolVersion", "preferredTransport"}
        return "skills" in document and bool(card_members & document.keys())

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        """Request the card: where it was published, else at the well-known paths."""
        expectation = Expectation(self.find_card_mismatch)
        if definition_url:
            return [HealthRequest(definition_url, expectation=expectation)]
        return [
            HealthRequest(
                urljoin(endpoint, path), expectation=expectation, probe_method=path
            )
            for path in self.well_known_paths
        ]

    def find_card_mismatch(self, response: HealthResponse) -> str:
        """Return what the response contains instead of a card, or ""."""
        try:
            card = response.read_json()
        except ValueError:
            card = None
        if isinstance(card, dict) and self.recognizes(card):
            return ""
        return response.describe("an agent card")

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(document, record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        problems.warn_unknown(document, AGENT_CARD_MEMBERS | {STUB_MEMBER})
        warn_missing(document, REQUIRED_CARD_MEMBERS, problems)
        interfaces = read_interfaces(document, problems)
        declared_capabilities = problems.object(document, "capabilities")
        default_modes = DefaultModes(
            problems.string_list(document, "defaultInputModes") or [],
            problems.string_list(document, "defaultOutputModes") or [],
        )
        interface = select_interface(interfaces, document, problems)
        return AgentRecord(
            protocol=self.slug,
            endpoint=build_identity(interface) if interface else "",
            former_identities=(
                (interface.url,) if interface and interface.tenant else ()
            ),
            name=problems.required_string(document, "name"),
            description=problems.string(document, "description"),
            version=problems.string(document, "version"),
            spec_version=read_spec_version(document, problems),
            provider=read_provider(document, problems),
            capabilities=tuple(
                read_capabilities(
                    document, interfaces, declared_capabilities, default_modes, problems
                )
            ),
        )


def read_capabilities(
    document: Document,
    interfaces: list[A2AInterface],
    declared_capabilities: Document,
    default_modes: DefaultModes,
    problems: Problems,
) -> Iterator[CapabilityRecord]:
    skills = list(read_skills(document, default_modes, problems))
    yield from skills
    yield from interfaces
    schemes = list(read_schemes(document, problems))
    yield from schemes
    yield from read_authentication(document, schemes, problems)
    yield from read_extensions(declared_capabilities, problems)
    yield from read_signatures(document, problems)
    yield from read_features(document, declared_capabilities, problems)
    yield from read_media_features(skills, default_modes)


def warn_missing(
    document: Document, keys: Iterable[str], problems: Problems, path: str = "$"
) -> None:
    """Add a warning for each member that A2A requires but many cards omit."""
    for key in keys:
        if document.get(key) is None:
            message = "is required by A2A but missing"
            problems.warning(member_path(path, key), message)


def is_v1(document: Document) -> bool:
    """Return whether to read the card as one of revision 1.0, as for dual cards."""
    interfaces = document.get("supportedInterfaces")
    return isinstance(interfaces, list) and bool(interfaces)


def read_spec_version(document: Document, problems: Problems) -> str:
    """Return the declared revision, or the one that the members belong to."""
    if is_v1(document):
        preferred = document["supportedInterfaces"][0]
        version = (
            preferred.get("protocolVersion") if isinstance(preferred, dict) else None
        )
        return version if isinstance(version, str) and version else "1.0"
    if all(document.get(key) is None for key in V03_MEMBERS):
        return "0.2"
    return problems.string(document, "protocolVersion") or "0.3.0"


def read_interfaces(document: Document, problems: Problems) -> list[A2AInterface]:
    """Return the interfaces without duplicates, the preferred one first."""
    return list(dict.fromkeys(iter_interfaces(document, problems)))


def iter_interfaces(document: Document, problems: Problems) -> Iterator[A2AInterface]:
    if is_v1(document):
        members = ("protocolBinding", "protocolVersion")
        for path, interface in problems.iter_objects(document, "supportedInterfaces"):
            warn_missing(interface, members, problems, path)
            yield read_interface(interface, "protocolBinding", problems, path)
        return
    if document.get("supportedInterfaces"):
        problems.warning("$.supportedInterfaces", "should be a list; ignored")
    url = problems.resolve_url(problems.string(document, "url"))
    if url.strip():
        binding = problems.string(document, "preferredTransport") or "JSONRPC"
        name = shorten_url(url)
        yield A2AInterface(name=name, url=url, binding=binding, path="$.url")
    for path, interface in problems.iter_objects(document, "additionalInterfaces"):
        warn_missing(interface, ("transport",), problems, path)
        yield read_interface(interface, "transport", problems, path)


def read_interface(
    interface: Document, binding_key: str, problems: Problems, path: str
) -> A2AInterface:
    problems.warn_unknown(interface, INTERFACE_MEMBERS | {binding_key}, path)
    url = problems.resolve_url(problems.required_string(interface, "url", path))
    return A2AInterface(
        name=shorten_url(url),
        url=url,
        binding=problems.string(interface, binding_key, path),
        protocol_version=problems.string(interface, "protocolVersion", path),
        tenant=problems.string(interface, "tenant", path) or None,
        path=path,
    )


def shorten_url(url: str) -> str:
    """Return the URL, shortened to the length limit of capability names."""
    if len(url) <= CAPABILITY_NAME_LIMIT:
        return url
    return url[: CAPABILITY_NAME_LIMIT - 1] + "…"


def read_provider(document: Document, problems: Problems) -> ProviderRecord | None:
    provider = problems.object(document, "provider")
    problems.warn_unknown(provider, {"name", "organization", "url"}, "$.provider")
    organization = problems.string(provider, "organization", "$.provider").strip()
    if not organization and (
        organization := problems.string(provider, "name", "$.provider").strip()
    ):
        problems.warning("$.provider.name", "should be `organization`; read as such")
    url = problems.url(provider, "url", "$.provider")
    if provider and not organization:
        message = "is missing; the provider is ignored"
        problems.warning("$.provider.organization", message)
    return ProviderRecord(organization, url=url) if organization else None


def read_skills(
    document: Document, default_modes: DefaultModes, problems: Problems
) -> Iterator[A2ASkill]:
    if document.get("skills") is None:
        problems.error("$.skills", "must be a list of objects")
    for path, skill in problems.iter_objects(document, "skills"):
        problems.warn_unknown(skill, SKILL_MEMBERS, path)
        warn_missing(skill, ("id", "description", "tags"), problems, path)
        yield read_skill(skill, default_modes, problems, path)


def read_skill(
    skill: Document, default_modes: DefaultModes, problems: Problems, path: str
) -> A2ASkill:
    """Return a skill, with the card's default modes where it declares none."""
    return A2ASkill(
        name=problems.required_string(skill, "name", path),
        description=problems.string(skill, "description", path),
        id=problems.string(skill, "id", path),
        tags=problems.string_list(skill, "tags", path) or [],
        input_modes=problems.string_list(skill, "inputModes", path)
        or default_modes.inputs,
        output_modes=problems.string_list(skill, "outputModes", path)
        or default_modes.outputs,
        security=read_requirements(skill, problems, path),
        path=path,
    )


def read_extensions(
    declared_capabilities: Document, problems: Problems
) -> Iterator[A2AExtension]:
    for path, extension in problems.iter_objects(
        declared_capabilities, "extensions", "$.capabilities"
    ):
        problems.warn_unknown(extension, EXTENSION_MEMBERS, path)
        uri = problems.string(extension, "uri", path)
        if not uri.strip():
            problems.warning(path, "has no uri; the extension is ignored")
            continue
        yield A2AExtension(
            name=uri,
            description=problems.string(extension, "description", path),
            uri=uri,
            required=problems.boolean(extension, "required", path) or False,
            params=problems.object(extension, "params", path) or None,
            path=path,
        )
