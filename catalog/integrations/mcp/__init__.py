"""Introspection of running MCP servers."""

from .introspection import MCPIntrospector

__all__ = ["MCPIntrospector"]
