"""AGH peers and their capabilities: the agh-network/v0 protocol."""

from .parser import AGHParser

__all__ = ["AGHParser"]
