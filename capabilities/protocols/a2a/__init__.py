"""A2A agent cards: https://a2a-protocol.org."""

from .parser import A2AParser

__all__ = ["A2AParser"]
