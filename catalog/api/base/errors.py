"""API errors with a stable code; `exception_handler` renders them."""

from typing import Any

from rest_framework.exceptions import APIException


class APIError(APIException):
    """An error with a stable code and optional details."""

    default_detail: str

    def __init__(self, message: str = "", **details: Any) -> None:
        super().__init__(message or self.default_detail)
        self.details = details


class InvalidParameter(APIError):
    status_code = 400
    default_code = "INVALID_PARAMETER"
    default_detail = "A query parameter is not valid"


class InvalidBody(APIError):
    status_code = 400
    default_code = "INVALID_BODY"
    default_detail = "The request body is not valid"


class BodyTooLarge(APIError):
    status_code = 413
    default_code = "BODY_TOO_LARGE"
    default_detail = "The request body must not be larger than 1048576 bytes"


class EntryNotFound(APIError):
    status_code = 404
    default_code = "ENTRY_NOT_FOUND"
    default_detail = "Catalog entry not found"


class PeerNotFound(APIError):
    status_code = 404
    default_code = "PEER_NOT_FOUND"
    default_detail = "Peer not found"


class CapabilityNotFound(APIError):
    status_code = 404
    default_code = "CAPABILITY_NOT_FOUND"
    default_detail = "Capability not found"


class InvalidKey(APIError):
    status_code = 400
    default_code = "INVALID_KEY"
    default_detail = "The capability key must have the form kind::name"


class Conflict(APIError):
    status_code = 409
    default_code = "CONFLICT"
    default_detail = "The request conflicts with the current state of the entry"
