"""MCP servers: https://modelcontextprotocol.io."""

from .parser import MCPParser

__all__ = ["MCPParser"]
