"""How clients connect to an MCP server."""

import json
from collections.abc import Iterator

from ...connections import Connection, Endpoint
from ...problems import Document, Problems
from ...records import AgentRecord, is_web_url
from .stub import describe_stub_credentials

# The command that runs a package of each registry, without the package's name.
RUN_COMMANDS = {
    "npm": ("npx", "-y"),
    "pypi": ("uvx",),
    "oci": ("docker", "run", "-i", "--rm"),
    "nuget": ("dnx",),
}


def build_connection(document: Document, record: AgentRecord) -> Connection:
    if is_web_url(record.endpoint):
        protocol = "MCP over HTTP"
        server: Document = {"type": "http", "url": record.endpoint}
    else:
        protocol, server = "MCP over stdio", find_command(document)
    return Connection(
        endpoints=[Endpoint(record.endpoint, protocol)],
        credentials=[
            *describe_stub_credentials(document),
            *iter_header_descriptions(document),
        ],
        snippet_title="Client configuration",
        snippet=build_client_configuration(record, server) if server else "",
    )


def find_command(document: Document) -> Document:
    """Return how to start the first package of a registry in RUN_COMMANDS, or {}."""
    for _, package in Problems().iter_objects(document, "packages"):
        registry = package.get("registryType") or package.get("registry_name")
        name = package.get("identifier") or package.get("name")
        if registry in RUN_COMMANDS and isinstance(name, str) and name:
            command, *arguments = RUN_COMMANDS[registry]
            return {"command": command, "args": [*arguments, name]}
    return {}


def build_client_configuration(record: AgentRecord, server: Document) -> str:
    key = record.name.rsplit("/", 1)[-1].strip() or "server"
    return json.dumps({"mcpServers": {key: server}}, indent=2, ensure_ascii=False)


def iter_header_descriptions(document: Document) -> Iterator[str]:
    """Yield a description of each header that the remotes declare."""
    for _, remote in Problems().iter_objects(document, "remotes"):
        for _, header in Problems().iter_objects(remote, "headers"):
            name, description = header.get("name"), header.get("description")
            if not isinstance(name, str):
                continue
            if isinstance(description, str):
                yield f"Header {name}: {description}"
            else:
                yield f"Header {name}"
