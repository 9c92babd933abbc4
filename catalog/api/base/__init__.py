"""Base classes and helpers for all API views."""

from .error_responses import (
    ERROR_CODE_BY_STATUS,
    REQUEST_ID_HEADER,
    build_error_body,
    exception_handler,
    get_request_id,
)
from .errors import (
    APIError,
    BodyTooLarge,
    CapabilityNotFound,
    Conflict,
    EntryNotFound,
    InvalidBody,
    InvalidKey,
    InvalidParameter,
    PeerNotFound,
)
from .fields import (
    BoundedListField,
    StrictCharField,
    StrictFloatField,
    StrictIntegerField,
)
from .pagination import StrictPagination
from .parsers import DEFINITION_PARSERS, DefinitionParser
from .permissions import (
    CHANGE_PERMISSION,
    VIEW_PERMISSION,
    CanReadCatalog,
    CatalogPermissions,
)
from .responses import ResponseSerializer
from .strict import StrictFilterBackend, get_validated_data, parse_boolean
from .views import CatalogAPIMixin

__all__ = [
    "CHANGE_PERMISSION",
    "DEFINITION_PARSERS",
    "ERROR_CODE_BY_STATUS",
    "REQUEST_ID_HEADER",
    "VIEW_PERMISSION",
    "APIError",
    "BodyTooLarge",
    "BoundedListField",
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
    "PeerNotFound",
    "ResponseSerializer",
    "StrictCharField",
    "StrictFilterBackend",
    "StrictFloatField",
    "StrictIntegerField",
    "StrictPagination",
    "build_error_body",
    "exception_handler",
    "get_request_id",
    "get_validated_data",
    "parse_boolean",
]
