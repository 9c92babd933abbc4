"""MCP servers: https://modelcontextprotocol.io."""

from .completion import complete_card, is_completed, preserve_introspected
from .greeting import NO_SUCH_PLACE
from .parser import MCPParser

__all__ = [
    "NO_SUCH_PLACE",
    "MCPParser",
    "complete_card",
    "is_completed",
    "preserve_introspected",
]
