"""AGH peers and their capabilities: the agh-network/v0 protocol."""

from .bodies import (
    CAPABILITY_PATH,
    CARD_PATH,
    build_transfer_body,
    build_whois_response_body,
)
from .cards import (
    BRIEF_KEY,
    CATALOG_KEY,
    PRIVILEGED_CAPABILITY,
    CapabilityBrief,
    PeerCard,
    require_proof,
)
from .catalogs import CatalogRequest, build_catalog_ext, read_catalog
from .definitions import build_definition, read_definition
from .documents import CapabilityDocument
from .envelopes import (
    FRESHNESS_SECONDS,
    Envelope,
    EnvelopeHeader,
    MessageKind,
    build_envelope,
    build_raw_envelope,
)
from .errors import EnvelopeError, EnvelopeTooLarge, ReasonCode, build_malformed_error
from .identifiers import (
    CHANNEL_PATTERN,
    ENDPOINT_SCHEME,
    PEER_ID_PATTERN,
    build_endpoint,
)
from .local import (
    CATALOG_FILES,
    CATALOG_FOLDER,
    LocalCatalogError,
    LocalProblem,
    has_catalog,
    read_local_catalog,
)
from .members import dump_compact_json
from .parser import AGENTLENS_PEER_ID, DEFAULT_CHANNEL, GREET_TIMEOUT, AGHParser
from .records import AGHCapability

__all__ = [
    "AGENTLENS_PEER_ID",
    "BRIEF_KEY",
    "CAPABILITY_PATH",
    "CARD_PATH",
    "CATALOG_FILES",
    "CATALOG_FOLDER",
    "CATALOG_KEY",
    "CHANNEL_PATTERN",
    "DEFAULT_CHANNEL",
    "ENDPOINT_SCHEME",
    "FRESHNESS_SECONDS",
    "GREET_TIMEOUT",
    "PEER_ID_PATTERN",
    "PRIVILEGED_CAPABILITY",
    "AGHCapability",
    "AGHParser",
    "CapabilityBrief",
    "CapabilityDocument",
    "CatalogRequest",
    "Envelope",
    "EnvelopeError",
    "EnvelopeHeader",
    "EnvelopeTooLarge",
    "LocalCatalogError",
    "LocalProblem",
    "MessageKind",
    "PeerCard",
    "ReasonCode",
    "build_catalog_ext",
    "build_definition",
    "build_endpoint",
    "build_envelope",
    "build_malformed_error",
    "build_raw_envelope",
    "build_transfer_body",
    "build_whois_response_body",
    "dump_compact_json",
    "has_catalog",
    "read_catalog",
    "read_definition",
    "read_local_catalog",
    "require_proof",
]
