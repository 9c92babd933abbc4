"""How clients call an A2A agent."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urldefrag, urlsplit

from ...connections import (
    Connection,
    ConnectionOption,
    Endpoint,
    ShellWord,
    build_command_option,
)
from ...problems import Document, Problems, find_url_error
from ...records import AgentRecord, is_loopback_host
from .addresses import append_path
from .credentials import Credential, describe_credentials, select_credentials
from .records import A2AInterface, A2ASecurityScheme
from .security import read_requirements

CommandLine = Sequence[ShellWord]

OPTION_LIMIT = 8
GRPC_HOST = re.compile(r"[\w.:%][\w.:%-]*")
# The ports of gRPC addresses without one.
DEFAULT_PORTS = {"http": 80, "https": 443, "grpc": 80, "grpcs": 443}
MAJOR_AND_MINOR = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,3}))?")
GRPC_SERVICE_V1 = "lf.a2a.v1.A2AService"
GRPC_SERVICE_V0 = "a2a.v1.A2AService"
GRPC_NOTE = (
    "grpcurl reads the methods from the server. If the server does not offer"
    " reflection, add -proto with the protocol's a2a.proto."
)

# A message of revision 1.0, and those of the revisions before it: gRPC and REST spell
# its members differently.
MESSAGE_V1 = {
    "messageId": "1",
    "role": "ROLE_USER",
    "parts": [{"text": "Hello"}],
}
MESSAGE_V0 = {
    "messageId": "1",
    "role": "user",
    "parts": [{"kind": "text", "text": "Hello"}],
}
PROTOBUF_MESSAGE_V0 = {
    "messageId": "1",
    "role": "ROLE_USER",
    "content": [{"text": "Hello"}],
}


def build_connection(document: Document, record: AgentRecord) -> Connection:
    capabilities = record.capabilities
    interfaces = [item for item in capabilities if isinstance(item, A2AInterface)]
    schemes = [item for item in capabilities if isinstance(item, A2ASecurityScheme)]
    requirements = read_requirements(document, Problems(), "$")
    credential = select_credentials(schemes, requirements)
    return Connection(
        endpoints=[
            Endpoint(
                interface.url,
                f"{interface.binding} {interface.protocol_version}".strip(),
            )
            for interface in interfaces
        ],
        credentials=describe_credentials(schemes, requirements),
        options=build_options(interfaces, record, credential),
    )


def build_options(
    interfaces: list[A2AInterface], record: AgentRecord, credential: Credential
) -> list[ConnectionOption]:
    """Return a command for each interface, those over HTTP before those over gRPC."""
    options: list[ConnectionOption] = []
    for interface in sorted(interfaces, key=is_grpc):
        build_command = COMMAND_BUILDERS.get(interface.binding.upper())
        if build_command is None or len(options) == OPTION_LIMIT:
            continue
        version = get_version(interface, record)
        if lines := build_command(interface, version, credential):
            title = f"Send a message over {interface.binding} {version}"
            note = GRPC_NOTE if is_grpc(interface) else ""
            options.append(build_command_option(title, lines, note=note))
    return options


def is_grpc(interface: A2AInterface) -> bool:
    return interface.binding.upper() == "GRPC"


def get_version(interface: A2AInterface, record: AgentRecord) -> str:
    """Return major and minor version of the protocol, such as "1.0"."""
    text = interface.protocol_version or record.spec_version
    match = MAJOR_AND_MINOR.match(text)
    return f"{match[1]}.{match[2] or 0}" if match else "1.0"


def is_before_v1(version: str) -> bool:
    return version.startswith("0.")


def build_jsonrpc_command(
    interface: A2AInterface, version: str, credential: Credential
) -> list[CommandLine]:
    params = build_params(interface, version, MESSAGE_V0)
    method = "message/send" if is_before_v1(version) else "SendMessage"
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return build_curl_command(interface.url, version, credential, body)


def build_rest_command(
    interface: A2AInterface, version: str, credential: Credential
) -> list[CommandLine]:
    """Return a command with the tenant in the path, where the REST binding wants it."""
    if find_url_error(interface.url):
        return []
    params = build_params(interface, version, PROTOBUF_MESSAGE_V0)
    tenant = params.pop("tenant", "")
    prefix = (
        "/v1"
        if is_before_v1(version)
        else f"/{quote(tenant, safe='')}"
        if tenant
        else ""
    )
    url = append_path(interface.url, f"{prefix}/message:send")
    return build_curl_command(url, version, credential, params)


def build_params(
    interface: A2AInterface, version: str, message_v0: Document
) -> dict[str, Any]:
    """Return the parameters of sending a message; revision 1.0 has tenants."""
    if is_before_v1(version):
        return {"message": message_v0}
    tenant = {"tenant": interface.tenant} if interface.tenant else {}
    return tenant | {"message": MESSAGE_V1}


def build_curl_command(
    url: str, version: str, credential: Credential, body: Document
) -> list[CommandLine]:
    """Return the lines of a command that posts the body, none without a web URL.

    The fragment of the URL is not sent.
    """
    if find_url_error(url):
        return []
    base_url = urldefrag(url).url
    if credential.query:
        base_url += ("&" if "?" in base_url else "?") + credential.query
    return [
        ["curl", "-X", "POST", base_url],
        ["-H", "Content-Type: application/json"],
        *build_version_header(version),
        *(option.split() for option in credential.options),
        *(["-H", header] for header in credential.headers),
        ["-d", body],
    ]


def build_version_header(version: str) -> list[CommandLine]:
    """Return the option for the header, without which servers assume revision 0.3."""
    return [] if is_before_v1(version) else [["-H", f"A2A-Version: {version}"]]


def build_grpc_command(
    interface: A2AInterface, version: str, credential: Credential
) -> list[CommandLine]:
    """Return the lines of a command, none if the URL has no host."""
    address, is_plaintext = read_grpc_address(interface.url)
    if not address:
        return []
    service = GRPC_SERVICE_V0 if is_before_v1(version) else GRPC_SERVICE_V1
    return [
        ["grpcurl", *["-plaintext"] * is_plaintext],
        *build_version_header(version),
        *(["-H", header] for header in credential.headers),
        ["-d", build_params(interface, version, PROTOBUF_MESSAGE_V0)],
        [address, f"{service}/SendMessage"],
    ]


def read_grpc_address(url: str) -> tuple[str, bool]:
    """Return host and port, and whether to connect without TLS.

    Return "" as address if the URL has no host. Only the scheme or a loopback host says
    that there is no TLS.
    """
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", False
    if not GRPC_HOST.fullmatch(host):
        return "", False
    is_plaintext = parts.scheme in ("http", "grpc") or (
        not parts.scheme and is_loopback_host(host)
    )
    port = port or DEFAULT_PORTS.get(parts.scheme, 443)
    return f"{f'[{host}]' if ':' in host else host}:{port}", is_plaintext


COMMAND_BUILDERS = {
    "JSONRPC": build_jsonrpc_command,
    "HTTP+JSON": build_rest_command,
    "GRPC": build_grpc_command,
}
