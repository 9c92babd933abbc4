"""Extended cards of A2A agents."""

from .extended_card import A2ACardExtender

__all__ = ["A2ACardExtender"]
