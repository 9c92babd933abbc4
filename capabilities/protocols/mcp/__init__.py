"""MCP servers: https://modelcontextprotocol.io."""

from .completion import complete_card, is_completed, preserve_introspected
from .parser import MCPParser
from .requests import (
    ENDPOINT_PATHS,
    POST_REJECTED_STATUSES,
    UNKNOWN_SESSION,
    build_initialize_request,
    build_ping_request,
    has_message,
)

__all__ = [
    "ENDPOINT_PATHS",
    "POST_REJECTED_STATUSES",
    "UNKNOWN_SESSION",
    "MCPParser",
    "build_initialize_request",
    "build_ping_request",
    "complete_card",
    "has_message",
    "is_completed",
    "preserve_introspected",
]
