"""Definitions as agents publish them, catalogued and found to be alive."""

import json

from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from catalog.search.indexer import index_entries
from tests.factories import card, skill


def publish(document: dict, status: str = Status.ACTIVE, **health) -> CatalogEntry:
    """Registered as a client would, and then as a probe would have left it."""
    entry = register(json.dumps(document).encode()).entry
    entries = CatalogEntry.objects.filter(pk=entry.pk)
    entries.update(status=status, **health)
    index_entries(entries)
    return entries.get()


def agent(name: str, *skills: str | dict, **members) -> dict:
    """An A2A card under a name of its own."""
    stated = [skill(s) if isinstance(s, str) else s for s in skills]
    members.setdefault("url", f"https://{slug(name)}.example.com/a2a")
    return card(name=name, skills=stated, **members)


def tool_server(name: str, *tools: str, **members) -> dict:
    """An MCP server as introspection tells it."""
    return {
        "serverInfo": {"name": slug(name), "title": name, "version": "1.0.0"},
        "protocolVersion": "2025-11-25",
        "url": f"https://{slug(name)}.example.com/mcp",
        "tools": [
            {"name": tool, "description": f"{tool}, by {name}", "inputSchema": {}}
            for tool in tools
        ],
    } | members


def slug(name: str) -> str:
    return name.lower().replace(" ", "-")
