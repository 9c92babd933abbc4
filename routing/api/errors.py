"""Seed 001's error codes; the project renders them in its one error shape."""

from catalog.api.base import Refusal


class InvalidCapabilityName(Refusal):
    status_code = 400
    default_code = "INVALID_CAPABILITY_NAME"
    default_detail = "The capability name is not valid"


class InvalidAgentId(Refusal):
    status_code = 400
    default_code = "INVALID_AGENT_ID"
    default_detail = "The agent id is not valid"


class InvalidVersion(Refusal):
    status_code = 400
    default_code = "INVALID_VERSION"
    default_detail = "The version is not a semantic version"


class AgentNotFound(Refusal):
    status_code = 404
    default_code = "AGENT_NOT_FOUND"
    default_detail = "Agent not found"


class RegistrationNotFound(Refusal):
    status_code = 404
    default_code = "REGISTRATION_NOT_FOUND"
    default_detail = "Capability registration not found"


class DuplicateRegistration(Refusal):
    status_code = 409
    default_code = "DUPLICATE_REGISTRATION"
    default_detail = "Agent already registered for this capability"


class InvalidStrategy(Refusal):
    status_code = 422
    default_code = "ROUTING_STRATEGY_INVALID"
    default_detail = "Unknown routing strategy"


class InvalidMetadataFilter(Refusal):
    status_code = 422
    default_code = "METADATA_FILTER_INVALID"
    default_detail = "The metadata filter is not valid"
