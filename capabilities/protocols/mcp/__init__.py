"""MCP servers: https://modelcontextprotocol.io."""

from .completion import complete_card, is_completed, preserve_introspected
from .parser import MCPParser
from .requests import WRONG_ENDPOINT_STATUSES

__all__ = [
    "WRONG_ENDPOINT_STATUSES",
    "MCPParser",
    "complete_card",
    "is_completed",
    "preserve_introspected",
]
