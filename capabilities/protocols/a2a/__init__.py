"""A2A agent cards: https://a2a-protocol.org."""

from .extended_card import ExtendedCardRequest, build_extended_card_request
from .parser import A2AParser

__all__ = ["A2AParser", "ExtendedCardRequest", "build_extended_card_request"]
