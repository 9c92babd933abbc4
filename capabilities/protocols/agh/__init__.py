"""AGH peers and their capabilities: the agh-network/v0 protocol."""

from .bodies import CAPABILITY, CARD, response_body, transfer_body
from .cards import BRIEF, CATALOG, PRIVILEGED, Brief, PeerCard, refuse_unproven
from .catalogs import CatalogRequest, catalog_ext, read_catalog
from .definitions import definition_of, read_definition
from .documents import CapabilityDocument
from .envelopes import REPLAY_AGE, Envelope, Heading, MessageKind, draft, emit
from .identifiers import ANNOUNCED, CHANNEL, PEER_ID, endpoint
from .local import (
    CATALOG_DIRECTORY,
    CATALOG_FILES,
    LocalCatalogError,
    LocalProblem,
    holds_catalog,
    read_local_catalog,
)
from .members import serialised
from .parser import GREET_TIMEOUT, LOCAL, OURSELVES, AGHParser
from .records import AGHCapability
from .refusals import ReasonCode, Refusal, TooLarge, malformed

__all__ = [
    "ANNOUNCED",
    "BRIEF",
    "CAPABILITY",
    "CARD",
    "CATALOG",
    "CATALOG_DIRECTORY",
    "CATALOG_FILES",
    "CHANNEL",
    "GREET_TIMEOUT",
    "LOCAL",
    "OURSELVES",
    "PEER_ID",
    "PRIVILEGED",
    "REPLAY_AGE",
    "AGHCapability",
    "AGHParser",
    "Brief",
    "CapabilityDocument",
    "CatalogRequest",
    "Envelope",
    "Heading",
    "LocalCatalogError",
    "LocalProblem",
    "MessageKind",
    "PeerCard",
    "ReasonCode",
    "Refusal",
    "TooLarge",
    "catalog_ext",
    "definition_of",
    "draft",
    "emit",
    "endpoint",
    "holds_catalog",
    "malformed",
    "read_catalog",
    "read_definition",
    "read_local_catalog",
    "refuse_unproven",
    "response_body",
    "serialised",
    "transfer_body",
]
