"""MCP servers: https://modelcontextprotocol.io."""

from .completion import complete_card, is_completed, preserve_introspected
from .parser import MCPParser
from .requests import POST_REJECTED_STATUSES

__all__ = [
    "POST_REJECTED_STATUSES",
    "MCPParser",
    "complete_card",
    "is_completed",
    "preserve_introspected",
]
