"""What every view of the API is made of."""

from .errors import (
    BodyTooLarge,
    CapabilityNotFound,
    Conflict,
    EntryNotFound,
    InvalidBody,
    InvalidKey,
    InvalidParameter,
    PeerNotFound,
    Refusal,
)
from .fields import NumberField, ShortListField, TextField, WholeNumberField
from .pagination import StrictPagination
from .parsers import DEFINITION_PARSERS, DefinitionParser
from .permissions import CHANGE, VIEW, CanReadCatalog, CatalogPermissions
from .strict import StrictFilterBackend, StrictParameters, boolean, validated

__all__ = [
    "CHANGE",
    "DEFINITION_PARSERS",
    "VIEW",
    "BodyTooLarge",
    "CanReadCatalog",
    "CapabilityNotFound",
    "CatalogPermissions",
    "Conflict",
    "DefinitionParser",
    "EntryNotFound",
    "InvalidBody",
    "InvalidKey",
    "InvalidParameter",
    "NumberField",
    "PeerNotFound",
    "Refusal",
    "ShortListField",
    "StrictFilterBackend",
    "StrictPagination",
    "StrictParameters",
    "TextField",
    "WholeNumberField",
    "boolean",
    "validated",
]
