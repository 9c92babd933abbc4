"""AG-UI declarations and servers that publish them."""

import json

from tests.servers import reply


def build_tool(name):
    return {"name": name, "description": f"{name} quickly", "parameters": {}}


def build_declaration(tools=5, **members):
    """Return the declaration of an agent, with this number of tools."""
    return {
        "identity": {"name": "Painter", "version": "3.0", "provider": "Acme"},
        "transport": {"streaming": True, "websocket": False},
        "tools": {
            "supported": True,
            "items": [build_tool(f"paint_{n}") for n in range(tools)],
        },
        "multiAgent": {"subAgents": [{"name": "Critic"}]},
        "multimodal": {"imageInput": True},
        "custom": {"compliance": {"gdpr": True}},
    } | members


def serve_declaration(server, path="/agent/capabilities", **members):
    server.routes[path] = reply(body=json.dumps(build_declaration(**members)).encode())
