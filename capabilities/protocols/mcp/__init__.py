"""MCP servers: https://modelcontextprotocol.io."""

from .completion import complete_card, is_completed, preserve_introspected
from .greeting import WRONG_ENDPOINT_STATUSES
from .parser import MCPParser

__all__ = [
    "WRONG_ENDPOINT_STATUSES",
    "MCPParser",
    "complete_card",
    "is_completed",
    "preserve_introspected",
]
