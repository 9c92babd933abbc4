"""MCP: asking a running server for its whole definition."""

from .introspection import MCPIntrospector

__all__ = ["MCPIntrospector"]
