"""How to call an A2A agent, read off its card."""

import json
import shlex
from typing import Any

from ...connections import Connection, Endpoint
from ...records import AgentRecord
from .records import A2AInterface, A2ASecurityScheme

MESSAGE = {
    "messageId": "1",
    "role": "ROLE_USER",
    "parts": [{"text": "Hello"}],
}
OLD_MESSAGE = {
    "messageId": "1",
    "role": "user",
    "parts": [{"kind": "text", "text": "Hello"}],
}


def build_connection(record: AgentRecord) -> Connection:
    interfaces = [c for c in record.capabilities if isinstance(c, A2AInterface)]
    schemes = [c for c in record.capabilities if isinstance(c, A2ASecurityScheme)]
    return Connection(
        endpoints=[
            Endpoint(i.url, f"{i.binding} {i.protocol_version}".strip())
            for i in interfaces
        ],
        credentials=[in_words(scheme) for scheme in schemes],
        title="Send a message",
        snippet=curl(record, interfaces, schemes),
    )


def in_words(scheme: A2ASecurityScheme) -> str:
    """A security scheme as one would tell a colleague."""
    said = scheme.fields
    words = {
        "apiKey": f"API key in the {scheme.method or 'request'}"
        f" as {said.get('parameter_name', '?')}",
        "http": f"HTTP {scheme.method or 'authentication'}"
        + (f" ({said['bearer_format']})" if said.get("bearer_format") else ""),
        "oauth2": f"OAuth 2.0, {scheme.method or 'flow not stated'}",
        "openIdConnect": f"OpenID Connect, described at"
        f" {said.get('open_id_connect_url', '?')}",
        "mutualTLS": "Mutual TLS: a client certificate",
    }
    told = words.get(scheme.type, f"{scheme.type}, a scheme this catalog does not know")
    return f"{told} – {scheme.description}" if scheme.description else told


def curl(
    record: AgentRecord,
    interfaces: list[A2AInterface],
    schemes: list[A2ASecurityScheme],
) -> str:
    """One message by JSON-RPC or plain HTTP, whichever the agent speaks."""
    spoken = {i.binding: i for i in reversed(interfaces)}
    interface = spoken.get("JSONRPC") or spoken.get("HTTP+JSON")
    if interface is None:
        return ""
    url, body = request(record, interface)
    lines = ["curl -X POST " + shlex.quote(url)]
    lines += ["-H 'Content-Type: application/json'"]
    lines += [header for scheme in schemes[:1] if (header := credential(scheme))]
    lines += ["-d " + shlex.quote(json.dumps(body))]
    return " \\\n  ".join(lines)


def request(record: AgentRecord, interface: A2AInterface) -> tuple[str, dict[str, Any]]:
    version = interface.protocol_version or record.spec_version
    old = version.startswith("0.")
    params = {"message": OLD_MESSAGE if old else MESSAGE}
    if interface.binding == "HTTP+JSON":
        return f"{interface.url.rstrip('/')}{'/v1' * old}/message:send", params
    method = "message/send" if old else "SendMessage"
    return interface.url, {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": params,
    }


def credential(scheme: A2ASecurityScheme) -> str:
    """The header that carries it, where it is one."""
    if scheme.type == "apiKey" and scheme.method == "header":
        name = str(scheme.fields.get("parameter_name", "X-API-Key"))
        return "-H " + shlex.quote(f"{name}: YOUR_KEY")
    if scheme.type in ("http", "oauth2", "openIdConnect"):
        return "-H 'Authorization: Bearer YOUR_TOKEN'"
    return ""
