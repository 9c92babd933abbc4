"""Error codes of the registry, in the error format of the whole API."""

from catalog.api.base import APIError


class InvalidCapabilityName(APIError):
    status_code = 400
    default_code = "INVALID_CAPABILITY_NAME"
    default_detail = "The capability name is not valid"


class InvalidAgentId(APIError):
    status_code = 400
    default_code = "INVALID_AGENT_ID"
    default_detail = (
        "The agent ID must have 1 to 128 characters: letters, digits, '.', '_', ':'"
        " or '-'"
    )


class InvalidVersion(APIError):
    status_code = 400
    default_code = "INVALID_VERSION"
    default_detail = "The version must be a semantic version, such as 1.0.0"


class AgentNotFound(APIError):
    status_code = 404
    default_code = "AGENT_NOT_FOUND"
    default_detail = "No catalog entry has this ID or agent key"


class RegistrationNotFound(APIError):
    status_code = 404
    default_code = "REGISTRATION_NOT_FOUND"
    default_detail = "This registration does not exist; it may have been removed"


class DuplicateRegistration(APIError):
    status_code = 409
    default_code = "DUPLICATE_REGISTRATION"
    default_detail = (
        "The agent is already registered for this capability; update that registration"
    )


class InvalidStrategy(APIError):
    status_code = 422
    default_code = "ROUTING_STRATEGY_INVALID"
    default_detail = "The routing strategy is not valid"


class InvalidMetadataFilter(APIError):
    status_code = 422
    default_code = "METADATA_FILTER_INVALID"
    default_detail = "The metadata filter is not valid"
