"""How clients call an A2A agent."""

import json
import shlex
from typing import Any

from ...connections import Connection, Endpoint
from ...records import AgentRecord
from .records import A2AInterface, A2ASecurityScheme

# A message of revision 1.0, and one of the revisions before it.
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


def build_connection(record: AgentRecord) -> Connection:
    interfaces = [
        capability
        for capability in record.capabilities
        if isinstance(capability, A2AInterface)
    ]
    schemes = [
        capability
        for capability in record.capabilities
        if isinstance(capability, A2ASecurityScheme)
    ]
    return Connection(
        endpoints=[
            Endpoint(
                interface.url,
                f"{interface.binding} {interface.protocol_version}".strip(),
            )
            for interface in interfaces
        ],
        credentials=[describe_scheme(scheme) for scheme in schemes],
        snippet_title="Send a message",
        snippet=build_curl_command(record, interfaces, schemes),
    )


def describe_scheme(scheme: A2ASecurityScheme) -> str:
    """Return what a caller must present, such as "HTTP Bearer (JWT)"."""
    fields = scheme.fields
    summaries = {
        "apiKey": f"API key in the {scheme.method or 'request'}"
        f" as {fields.get('parameter_name', '?')}",
        "http": f"HTTP {scheme.method or 'authentication'}"
        + (f" ({fields['bearer_format']})" if fields.get("bearer_format") else ""),
        "oauth2": f"OAuth 2.0, {scheme.method or 'without a declared flow'}",
        "openIdConnect": f"OpenID Connect, described at"
        f" {fields.get('open_id_connect_url', '?')}",
        "mutualTLS": "Mutual TLS: a client certificate",
    }
    summary = summaries.get(scheme.type, f"{scheme.type}, an unknown scheme")
    return f"{summary} – {scheme.description}" if scheme.description else summary


def build_curl_command(
    record: AgentRecord,
    interfaces: list[A2AInterface],
    schemes: list[A2ASecurityScheme],
) -> str:
    """Return a shell command that sends a message, or "" without an HTTP interface."""
    # Reversed, so that the first interface of each binding is used.
    by_binding = {interface.binding: interface for interface in reversed(interfaces)}
    interface = by_binding.get("JSONRPC") or by_binding.get("HTTP+JSON")
    if interface is None:
        return ""
    url, body = build_request(record, interface)
    lines = ["curl -X POST " + shlex.quote(url)]
    lines += ["-H 'Content-Type: application/json'"]
    lines += [
        option for scheme in schemes[:1] if (option := build_header_option(scheme))
    ]
    lines += ["-d " + shlex.quote(json.dumps(body))]
    return " \\\n  ".join(lines)


def build_request(
    record: AgentRecord, interface: A2AInterface
) -> tuple[str, dict[str, Any]]:
    """Return the URL and the JSON body of a request that sends a message."""
    version = interface.protocol_version or record.spec_version
    is_v0 = version.startswith("0.")
    params = {"message": MESSAGE_V0 if is_v0 else MESSAGE_V1}
    if interface.binding == "HTTP+JSON":
        base_url = interface.url.rstrip("/")
        return f"{base_url}{'/v1' if is_v0 else ''}/message:send", params
    method = "message/send" if is_v0 else "SendMessage"
    return interface.url, {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": params,
    }


def build_header_option(scheme: A2ASecurityScheme) -> str:
    """Return curl's option for the credential, or "" if it is not in a header."""
    if scheme.type == "apiKey" and scheme.method == "header":
        name = str(scheme.fields.get("parameter_name", "X-API-Key"))
        return "-H " + shlex.quote(f"{name}: YOUR_KEY")
    if scheme.type in ("http", "oauth2", "openIdConnect"):
        return "-H 'Authorization: Bearer YOUR_TOKEN'"
    return ""
