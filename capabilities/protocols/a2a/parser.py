"""A2A agent cards, revisions 0.2, 0.3 and 1.0, and cards that are two at once."""

from collections.abc import Iterator

from ...features import AgentFeature
from ...parsers import Parser
from ...problems import Document, Problems, member, url_fault
from ...records import NAME_LIMIT, AgentRecord, ProviderRecord
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
INTERFACE_MEMBERS = {"protocolBinding", "protocolVersion", "tenant", "transport", "url"}
EXTENDED_CARD = "a2a.extendedAgentCard"
FLAGS = {
    "streaming": "transport.streaming",
    "pushNotifications": "transport.pushNotifications",
    "stateTransitionHistory": "a2a.stateTransitionHistory",
    "extendedAgentCard": EXTENDED_CARD,
}


class A2AParser(Parser):
    slug = "a2a"
    label = "A2A agent card"
    expects = "needs `skills` with `url` or `supportedInterfaces`"
    well_known = ("/.well-known/agent-card.json", "/.well-known/agent.json")
    kinds = KINDS

    def recognises(self, document: Document) -> bool:
        if "supportedInterfaces" in document:
            return True
        card_like = {"url", "protocolVersion", "preferredTransport"} & document.keys()
        return "skills" in document and bool(card_like)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        interfaces = list(read_interfaces(document, problems))
        if not isinstance(document.get("skills"), list):
            problems.error("$.skills", "must be a list of objects")
        for key in ("description", "version", "capabilities"):
            if key not in document:
                problems.warning(member("$", key), "is required by A2A; missing")
        problems.unknown(document, CARD_MEMBERS)
        flags = problems.object(document, "capabilities")
        return AgentRecord(
            protocol=self.slug,
            endpoint=endpoint(interfaces, document, problems),
            name=problems.required_text(document, "name"),
            description=problems.text(document, "description"),
            version=problems.text(document, "version"),
            spec_version=spec_version(document, problems),
            provider=read_provider(document, problems),
            capabilities=(
                *read_skills(document, problems),
                *interfaces,
                *read_schemes(document, problems),
                *read_extensions(flags, problems),
                *read_signatures(document, problems),
                *read_features(document, flags, problems),
            ),
        )


def is_v1(document: Document) -> bool:
    """Revision 1.0 lists its interfaces; such fields win in a dual card."""
    return bool(document.get("supportedInterfaces"))


def spec_version(document: Document, problems: Problems) -> str:
    if is_v1(document):
        interfaces = document["supportedInterfaces"]
        first = interfaces[0] if isinstance(interfaces, list) else None
        said = first.get("protocolVersion") if isinstance(first, dict) else None
        return said if isinstance(said, str) and said else "1.0"
    hints = {"protocolVersion", "preferredTransport", "additionalInterfaces"}
    if not (hints | {"signatures"}) & document.keys():
        return "0.2"
    return problems.text(document, "protocolVersion") or "0.3.0"


def read_interfaces(document: Document, problems: Problems) -> Iterator[A2AInterface]:
    """Each way to reach the agent once, the preferred one first."""
    seen: list[A2AInterface] = []
    for interface in stated_interfaces(document, problems):
        if interface not in seen:
            seen.append(interface)
            yield interface


def stated_interfaces(document: Document, problems: Problems) -> Iterator[A2AInterface]:
    if is_v1(document):
        for path, stated in problems.objects(document, "supportedInterfaces"):
            yield read_interface(path, stated, "protocolBinding", problems)
        return
    if isinstance(url := document.get("url"), str) and url:
        binding = problems.text(document, "preferredTransport") or "JSONRPC"
        yield A2AInterface(name=label(url), url=url, binding=binding, path="$.url")
    for path, stated in problems.objects(document, "additionalInterfaces"):
        yield read_interface(path, stated, "transport", problems)


def read_interface(
    path: str, stated: Document, binding: str, problems: Problems
) -> A2AInterface:
    problems.unknown(stated, INTERFACE_MEMBERS, path)
    url = problems.required_text(stated, "url", path)
    return A2AInterface(
        name=label(url),
        url=url,
        binding=problems.text(stated, binding, path),
        protocol_version=problems.text(stated, "protocolVersion", path),
        path=path,
    )


def label(url: str) -> str:
    """A URL as a name; an endless one is cut here and whole in `url`."""
    return url if len(url) <= NAME_LIMIT else url[: NAME_LIMIT - 1] + "…"


def endpoint(
    interfaces: list[A2AInterface], document: Document, problems: Problems
) -> str:
    """The preferred web address; a gRPC target is listed, but is no identity."""
    faults = [(interface, url_fault(interface.url)) for interface in interfaces]
    fit = [interface.url for interface, fault in faults if not fault]
    for interface, fault in faults:
        if fault and fit:
            problems.warning(interface.path, f"url {fault}; shown, never opened")
        elif fault and interface.url:
            problems.error(interface.path, f"url {fault}")
    if not interfaces:
        place = "$.supportedInterfaces" if "url" not in document else "$.url"
        problems.error(place, "the card names no endpoint: it needs an http(s) URL")
    return fit[0] if fit else ""


def read_provider(document: Document, problems: Problems) -> ProviderRecord | None:
    stated = problems.object(document, "provider")
    organization = problems.text(stated, "organization", "$.provider").strip()
    url = problems.link(stated, "url", "$.provider")
    if stated and not organization:
        problems.warning("$.provider.organization", "is missing; provider ignored")
    return ProviderRecord(organization, url=url) if organization else None


def read_skills(document: Document, problems: Problems) -> Iterator[A2ASkill]:
    defaults = {
        key: problems.texts(document, key)
        for key in ("defaultInputModes", "defaultOutputModes")
    }
    for key, modes in defaults.items():
        if modes is None:
            problems.warning(member("$", key), "is required by A2A; missing")
    if not isinstance(document.get("skills"), list):
        return
    for path, stated in problems.objects(document, "skills"):
        problems.unknown(stated, SKILL_MEMBERS, path)
        yield read_skill(path, stated, defaults, problems)


def read_skill(
    path: str,
    stated: Document,
    defaults: dict[str, list[str] | None],
    problems: Problems,
) -> A2ASkill:
    """One skill; modes it does not state are the card's."""
    tags = problems.texts(stated, "tags", path)
    for key in ("id", "description", "tags"):
        if key not in stated:
            problems.warning(member(path, key), "is required by A2A; missing")
    inputs = problems.texts(stated, "inputModes", path)
    outputs = problems.texts(stated, "outputModes", path)
    return A2ASkill(
        name=problems.required_text(stated, "name", path),
        description=problems.text(stated, "description", path),
        id=problems.text(stated, "id", path),
        tags=tags or [],
        input_modes=inputs or defaults["defaultInputModes"] or [],
        output_modes=outputs or defaults["defaultOutputModes"] or [],
        security=read_requirements(stated, problems, path),
        path=path,
    )


def read_extensions(flags: Document, problems: Problems) -> Iterator[A2AExtension]:
    for path, stated in problems.objects(flags, "extensions", "$.capabilities"):
        uri = problems.text(stated, "uri", path)
        if not uri:
            problems.warning(path, "extension without a uri; ignored")
            continue
        yield A2AExtension(
            name=uri,
            description=problems.text(stated, "description", path),
            uri=uri,
            required=stated.get("required") is True,
            params=problems.object(stated, "params", path) or None,
            path=path,
        )


def read_features(
    document: Document, flags: Document, problems: Problems
) -> Iterator[AgentFeature]:
    """What the card declares: flags, MIME types, and what a caller must present."""
    problems.unknown(flags, {*FLAGS, "extensions"}, "$.capabilities")
    for key, name in FLAGS.items():
        path, value = member("$.capabilities", key), flags.get(key)
        if value is None and name == EXTENDED_CARD:
            path = "$.supportsAuthenticatedExtendedCard"
            value = document.get("supportsAuthenticatedExtendedCard")
        if isinstance(value, bool):
            yield AgentFeature(name=name, value=value, path=path)
        elif value is not None:
            problems.warning(path, "should be true or false; ignored")
    modes = document.get("defaultOutputModes")
    requirements = read_requirements(document, problems, "$")
    for name, stated in (
        ("output.supportedMimeTypes", modes if isinstance(modes, list) else []),
        ("security.requirements", requirements or []),
    ):
        if stated:
            yield AgentFeature(name=name, value=stated)
