"""The parser for A2A agent cards of revisions 0.2, 0.3 and 1.0.

Dual cards combine the members of 1.0 with those of an older revision.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin

from ...connections import Connection
from ...health_requests import HealthRequest
from ...parsers import Parser
from ...problems import Document, Problems, find_url_error, member_path
from ...records import CAPABILITY_NAME_LIMIT, AgentRecord, ProviderRecord
from .connection import build_connection
from .features import read_features, read_media_features
from .records import KINDS, A2AExtension, A2AInterface, A2ASkill
from .security import read_requirements, read_schemes, read_signatures

AGENT_CARD_MEMBERS = {
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
DEFAULT_MODE_MEMBERS = ("defaultInputModes", "defaultOutputModes")
# A card with any of these members is of revision 0.3 rather than 0.2.
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
        card_members = {"url", "protocolVersion", "preferredTransport"}
        return "skills" in document and bool(card_members & document.keys())

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        """Request the card: where it was published, else at the well-known paths."""
        if definition_url:
            return [HealthRequest(definition_url)]
        return [HealthRequest(urljoin(endpoint, path)) for path in self.well_known]

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        problems.warn_unknown(document, AGENT_CARD_MEMBERS)
        required = ("description", "version", "capabilities", *DEFAULT_MODE_MEMBERS)
        warn_missing(document, required, problems)
        interfaces = read_interfaces(document, problems)
        flags = problems.object(document, "capabilities")
        default_modes = [
            problems.string_list(document, key) or [] for key in DEFAULT_MODE_MEMBERS
        ]
        return AgentRecord(
            protocol=self.slug,
            endpoint=select_endpoint(interfaces, document, problems),
            name=problems.required_string(document, "name"),
            description=problems.string(document, "description"),
            version=problems.string(document, "version"),
            spec_version=read_spec_version(document, problems),
            provider=read_provider(document, problems),
            capabilities=(
                *(skills := list(read_skills(document, default_modes, problems))),
                *interfaces,
                *read_schemes(document, problems),
                *read_extensions(flags, problems),
                *read_signatures(document, problems),
                *read_features(document, flags, problems),
                *read_media_features(skills, default_modes),
            ),
        )


def warn_missing(
    document: Document, keys: Iterable[str], problems: Problems, path: str = "$"
) -> None:
    """Add a warning for each member that A2A requires but many cards omit."""
    for key in keys:
        if document.get(key) is None:
            message = "is required by A2A but missing"
            problems.warning(member_path(path, key), message)


def is_v1(document: Document) -> bool:
    """Return whether the card is of revision 1.0, which also wins in a dual card."""
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
    if all(document.get(key) is None for key in SINCE_V03):
        return "0.2"
    return problems.string(document, "protocolVersion") or "0.3.0"


def read_interfaces(document: Document, problems: Problems) -> list[A2AInterface]:
    """Return the interfaces without duplicates, the preferred one first."""
    return list(dict.fromkeys(iter_interfaces(document, problems)))


def iter_interfaces(document: Document, problems: Problems) -> Iterator[A2AInterface]:
    if is_v1(document):
        for path, item in problems.iter_objects(document, "supportedInterfaces"):
            warn_missing(item, ("protocolBinding", "protocolVersion"), problems, path)
            yield read_interface(path, item, "protocolBinding", problems)
        return
    if document.get("supportedInterfaces"):
        problems.warning("$.supportedInterfaces", "should be a list; ignored")
    url = problems.string(document, "url")
    if url.strip():
        binding = problems.string(document, "preferredTransport") or "JSONRPC"
        name = truncate_name(url)
        yield A2AInterface(name=name, url=url, binding=binding, path="$.url")
    for path, item in problems.iter_objects(document, "additionalInterfaces"):
        warn_missing(item, ("transport",), problems, path)
        yield read_interface(path, item, "transport", problems)


def read_interface(
    path: str, item: Document, binding_key: str, problems: Problems
) -> A2AInterface:
    problems.warn_unknown(item, INTERFACE_MEMBERS | {binding_key}, path)
    url = problems.required_string(item, "url", path)
    return A2AInterface(
        name=truncate_name(url),
        url=url,
        binding=problems.string(item, binding_key, path),
        protocol_version=problems.string(item, "protocolVersion", path),
        tenant=problems.string(item, "tenant", path) or None,
        path=path,
    )


def truncate_name(url: str) -> str:
    """Return the URL, shortened to fit into a name; `url` keeps the whole."""
    if len(url) <= CAPABILITY_NAME_LIMIT:
        return url
    return url[: CAPABILITY_NAME_LIMIT - 1] + "…"


def select_endpoint(
    interfaces: list[A2AInterface], document: Document, problems: Problems
) -> str:
    """Return the first http(s) URL; others, such as gRPC addresses, are listed only."""
    errors = [(item, find_url_error(item.url)) for item in interfaces if item.url]
    web_urls = [item.url for item, error in errors if not error]
    for item, error in errors:
        message = error if item.path.endswith(".url") else f"url {error}"
        if error and web_urls:
            problems.warning(item.path, f"{message}; listed, but not used")
        elif error:
            problems.error(item.path, message)
    if not interfaces:
        path = "$.url" if "url" in document else "$.supportedInterfaces"
        problems.error(path, "must be an http or https URL: the card has no endpoint")
    return web_urls[0] if web_urls else ""


def read_provider(document: Document, problems: Problems) -> ProviderRecord | None:
    provider = problems.object(document, "provider")
    problems.warn_unknown(provider, {"organization", "url"}, "$.provider")
    organization = problems.string(provider, "organization", "$.provider").strip()
    url = problems.url(provider, "url", "$.provider")
    if provider and not organization:
        message = "is missing; the provider is ignored"
        problems.warning("$.provider.organization", message)
    return ProviderRecord(organization, url=url) if organization else None


def read_skills(
    document: Document, default_modes: list[list[str]], problems: Problems
) -> Iterator[A2ASkill]:
    if document.get("skills") is None:
        problems.error("$.skills", "must be a list of objects")
    for path, item in problems.iter_objects(document, "skills"):
        problems.warn_unknown(item, SKILL_MEMBERS, path)
        warn_missing(item, ("id", "description", "tags"), problems, path)
        yield read_skill(path, item, default_modes, problems)


def read_skill(
    path: str, item: Document, default_modes: list[list[str]], problems: Problems
) -> A2ASkill:
    """Return a skill, with the card's default modes where it declares none."""
    default_inputs, default_outputs = default_modes
    return A2ASkill(
        name=problems.required_string(item, "name", path),
        description=problems.string(item, "description", path),
        id=problems.string(item, "id", path),
        tags=problems.string_list(item, "tags", path) or [],
        input_modes=problems.string_list(item, "inputModes", path) or default_inputs,
        output_modes=problems.string_list(item, "outputModes", path) or default_outputs,
        security=read_requirements(item, problems, path),
        path=path,
    )


def read_extensions(flags: Document, problems: Problems) -> Iterator[A2AExtension]:
    for path, item in problems.iter_objects(flags, "extensions", "$.capabilities"):
        problems.warn_unknown(item, EXTENSION_MEMBERS, path)
        uri = problems.string(item, "uri", path)
        if not uri.strip():
            problems.warning(path, "has no uri; the extension is ignored")
            continue
        yield A2AExtension(
            name=uri,
            description=problems.string(item, "description", path),
            uri=uri,
            required=problems.boolean(item, "required", path) or False,
            params=problems.object(item, "params", path) or None,
            path=path,
        )
