"""Definitions, and their registration as agents with a given health."""

import json

from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from catalog.search.indexer import index_entries
from tests.factories import card, skill


def register_agent(
    document: dict, status: str = Status.ACTIVE, **health
) -> CatalogEntry:
    """Register a definition, then set the status and the health fields."""
    entry = register(json.dumps(document).encode()).entry
    entries = CatalogEntry.objects.filter(pk=entry.pk)
    entries.update(status=status, **health)
    index_entries(entries)
    return entries.get()


def agent_card(name: str, *skills: str | dict, **members) -> dict:
    """Return an A2A card whose URL contains the name; skills may be just names."""
    documents = [skill(item) if isinstance(item, str) else item for item in skills]
    members.setdefault("url", f"https://{slugify(name)}.example.com/a2a")
    return card(name=name, skills=documents, **members)


def mcp_definition(name: str, *tools: str, **members) -> dict:
    """Return an MCP definition as introspection builds it."""
    return {
        "serverInfo": {"name": slugify(name), "title": name, "version": "1.0.0"},
        "protocolVersion": "2025-11-25",
        "url": f"https://{slugify(name)}.example.com/mcp",
        "tools": [
            {"name": tool, "description": f"{tool}, by {name}", "inputSchema": {}}
            for tool in tools
        ],
    } | members


def slugify(name: str) -> str:
    return name.lower().replace(" ", "-")
