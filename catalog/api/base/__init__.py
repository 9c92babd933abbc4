"""What every view of the API is made of."""

from .error_responses import (
    CODES,
    REQUEST_ID,
    error_body,
    exception_handler,
    request_id_of,
)
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
from .responses import ResponseSerializer
from .strict import StrictFilterBackend, boolean, validated
from .views import CatalogAPIMixin

__all__ = [
    "CHANGE",
    "CODES",
    "DEFINITION_PARSERS",
    "REQUEST_ID",
    "VIEW",
    "BodyTooLarge",
    "CanReadCatalog",
    "CapabilityNotFound",
    "CatalogAPIMixin",
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
    "ResponseSerializer",
    "ShortListField",
    "StrictFilterBackend",
    "StrictPagination",
    "TextField",
    "WholeNumberField",
    "boolean",
    "error_body",
    "exception_handler",
    "request_id_of",
    "validated",
]
