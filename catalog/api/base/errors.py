"""What the API refuses; the project renders it in its one error shape."""

from rest_framework.exceptions import APIException


class Refusal(APIException):
    """An error with a stable code and, perhaps, details."""

    def __init__(self, message: str = "", **details):
        super().__init__(message or self.default_detail)
        self.details = details


class InvalidParameter(Refusal):
    status_code = 400
    default_code = "INVALID_PARAMETER"
    default_detail = "A parameter is not valid"


class InvalidBody(Refusal):
    status_code = 400
    default_code = "INVALID_BODY"
    default_detail = "The body is not valid"


class BodyTooLarge(Refusal):
    status_code = 413
    default_code = "BODY_TOO_LARGE"
    default_detail = "The body is larger than 1048576 bytes"


class EntryNotFound(Refusal):
    status_code = 404
    default_code = "ENTRY_NOT_FOUND"
    default_detail = "Catalog entry not found"


class PeerNotFound(Refusal):
    status_code = 404
    default_code = "PEER_NOT_FOUND"
    default_detail = "Peer not found"


class CapabilityNotFound(Refusal):
    status_code = 404
    default_code = "CAPABILITY_NOT_FOUND"
    default_detail = "Capability not found"


class InvalidKey(Refusal):
    status_code = 400
    default_code = "INVALID_KEY"
    default_detail = "A capability's key is kind::name"


class Conflict(Refusal):
    status_code = 409
    default_code = "CONFLICT"
    default_detail = "That cannot be done to this entry as it is"
