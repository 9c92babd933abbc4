"""How to add an MCP server to a client, read off its definition."""

import json
from typing import Any

from ...connections import Connection, Endpoint
from ...problems import Document, Problems
from ...records import AgentRecord, is_web_url

# What runs a package of each registry, before its name.
RUNNERS = {
    "npm": ("npx", "-y"),
    "pypi": ("uvx",),
    "oci": ("docker", "run", "-i", "--rm"),
    "nuget": ("dnx",),
}


def build_connection(document: Document, record: AgentRecord) -> Connection:
    server = remote(record) if is_web_url(record.endpoint) else local(document)
    spoken = "MCP over HTTP" if is_web_url(record.endpoint) else "MCP over stdio"
    return Connection(
        endpoints=[Endpoint(record.endpoint, spoken)],
        credentials=list(headers(document)),
        title="Client configuration",
        snippet=configuration(record, server) if server else "",
    )


def remote(record: AgentRecord) -> Document:
    return {"type": "http", "url": record.endpoint}


def local(document: Document) -> Document:
    """How to start the first package that something we know can run."""
    for _, package in Problems().iter_objects(document, "packages"):
        registry = package.get("registryType") or package.get("registry_name")
        name = package.get("identifier") or package.get("name")
        if registry in RUNNERS and isinstance(name, str) and name:
            runner, *arguments = RUNNERS[registry]
            return {"command": runner, "args": [*arguments, name]}
    return {}


def configuration(record: AgentRecord, server: Document) -> str:
    key = record.name.rsplit("/", 1)[-1] or "server"
    return json.dumps({"mcpServers": {key: server}}, indent=2, ensure_ascii=False)


def headers(document: Document) -> Any:
    """The headers that remotes ask for, each in words."""
    for _, stated in Problems().iter_objects(document, "remotes"):
        for _, header in Problems().iter_objects(stated, "headers"):
            name, about = header.get("name"), header.get("description")
            if isinstance(name, str):
                words = f"Header {name}"
                yield f"{words}: {about}" if isinstance(about, str) else words
