"""Hooks that add error responses and event streams to the OpenAPI schema."""

from typing import Any

from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request

JSONObject = dict[str, Any]

ERROR_CODES = (
    "INVALID_PARAMETER",
    "INVALID_KEY",
    "INVALID_BODY",
    "URL_NOT_ALLOWED",
    "INVALID_CAPABILITY_NAME",
    "INVALID_AGENT_ID",
    "INVALID_VERSION",
    "NOT_AUTHENTICATED",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "ENTRY_NOT_FOUND",
    "CAPABILITY_NOT_FOUND",
    "AGENT_NOT_FOUND",
    "REGISTRATION_NOT_FOUND",
    "PEER_NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "CONFLICT",
    "DUPLICATE_REGISTRATION",
    "BODY_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "INVALID_DEFINITION",
    "PROTOCOL_NOT_DETECTED",
    "ROUTING_STRATEGY_INVALID",
    "METADATA_FILTER_INVALID",
    "VERIFICATION_FAILED",
    "RATE_LIMITED",
    "FETCH_FAILED",
    "FETCH_TIMEOUT",
    "INTERNAL_ERROR",
)
ERROR_SCHEMA = {
    "type": "object",
    "description": "The body of every error response.",
    "required": ["error", "code", "details", "timestamp", "request_id"],
    "properties": {
        "error": {
            "type": "string",
            "description": "A message for people. It may change between releases.",
        },
        "code": {
            "type": "string",
            "description": "A stable code for programs, one of:"
            f" {', '.join(ERROR_CODES)}.",
        },
        "details": {"type": "object", "additionalProperties": True},
        "timestamp": {"type": "string", "format": "date-time"},
        "request_id": {"type": "string"},
    },
    "example": {
        "error": "Catalog entry not found",
        "code": "ENTRY_NOT_FOUND",
        "details": {},
        "timestamp": "2026-01-01T00:00:00Z",
        "request_id": "req_5f0c2a9d1b7e4c38",
    },
}
# The error responses of operations: descriptions by status.
COMMON_RESPONSES = {
    "400": "A parameter or the body is not valid, or a URL is not allowed.",
    "401": "The request has no valid session or token.",
    "403": "The user does not have the required permission.",
}
BODY_RESPONSES = {
    "413": "The body is larger than 1048576 bytes.",
    "415": "The media type of the body is not supported.",
    "429": "There were too many writes, too many agents are being contacted, or the"
    " agent was just probed. `Retry-After` says how many seconds to wait.",
}
DEFINITION_RESPONSES = {
    "422": "The definition is not valid. `details.errors` lists every error with its"
    " JSON path.",
}
FETCH_RESPONSES = {
    "502": "The definition could not be fetched.",
    "504": "The agent did not respond in time.",
}
# The last path segments of operations that receive or fetch a definition.
DEFINITION_ACTIONS = ("/validate", "/register", "/import", "/refresh")
FETCH_ACTIONS = ("/import", "/refresh")
CONFLICT_RESPONSES = {
    "probe": {"409": "The agent cannot be probed."},
    "refresh": {
        "409": "The definition cannot be fetched again, another agent is published at"
        " its URL, or the entry was changed in the meantime."
    },
}
NOT_FOUND_DESCRIPTIONS = {
    "/api/v1/catalog/{id}": "No entry with this ID.",
    "/api/v1/capabilities/{key}": "No agent offers this capability.",
    "/api/v1/agh/peers/{peer_id}/capabilities": "No peer with this ID, or the full"
    " document of the capability is not in the catalog.",
    "/api/v1/agh/peers/{peer_id}": "No peer with this ID.",
    "/api/v1/registry/capabilities/{agent_id}": "No agent with this ID, or the agent is"
    " not registered for this capability.",
    "/api/v1/registry/capabilities/{key}/reports": "No registration with this ID.",
    "/api/v1/registry/capabilities/{key}": "No agent is registered for this"
    " capability.",
}
REGISTRY_PATH = "/api/v1/registry/capabilities"
OPERATION_RESPONSES = {
    ("get", "/api/v1/catalog/compare"): {"404": "An ID is not in the catalog."},
    ("post", "/api/v1/agh/envelopes"): {
        "404": "The addressed peer is not in the catalog.",
        "409": "The envelope was already received.",
        "422": "A digest does not match, or a claimed privilege has no proof"
        " (`verification_failed`).",
    },
    ("post", REGISTRY_PATH): {
        "404": "No agent with this ID.",
        "409": "The agent is already registered for this capability.",
    },
    ("get", f"{REGISTRY_PATH}/{{key}}"): {
        "422": "The routing strategy or the metadata filter is not valid.",
    },
    ("put", f"{REGISTRY_PATH}/{{key}}"): {"404": "No registration with this ID."},
}
SUCCESS_DESCRIPTIONS = {
    "200": "The request succeeded.",
    "201": "The resource was created.",
}
# Served by the ASGI application and not by Django, so drf-spectacular cannot find it.
EVENT_STREAM = {
    "operationId": "registry_events",
    "summary": "Stream registration events",
    "description": "The events of `/ws/capabilities` as server-sent events. `data` is"
    " the same JSON as in a WebSocket message. When the server ends the stream, the"
    " client should connect again.",
    "parameters": [
        {
            "in": "query",
            "name": "capability",
            "schema": {"type": "array", "items": {"type": "string"}},
            "description": "Only events of these capabilities; all events if not"
            " given.",
        }
    ],
    "tags": ["registry"],
    "security": [{"bearer": []}, {"cookieAuth": []}],
    "responses": {
        "200": {
            "description": "A stream of events that stays open.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
}


def add_event_streams(
    result: JSONObject,
    generator: SchemaGenerator,
    request: Request | None,
    public: bool,
) -> JSONObject:
    """Add the event stream, which is not a Django view."""
    result["paths"]["/api/v1/registry/events"] = {"get": EVENT_STREAM}
    return result


def add_error_responses(
    result: JSONObject,
    generator: SchemaGenerator,
    request: Request | None,
    public: bool,
) -> JSONObject:
    """Add the error responses of every operation."""
    result["components"]["schemas"]["Error"] = ERROR_SCHEMA
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            for status, description in collect_error_descriptions(path, method).items():
                responses.setdefault(status, build_error_response_schema(description))
            describe_success(responses)
    return result


def describe_success(responses: JSONObject) -> None:
    """Replace the empty descriptions that drf-spectacular generates."""
    for status, description in SUCCESS_DESCRIPTIONS.items():
        if status in responses and not responses[status]["description"]:
            responses[status]["description"] = description


def collect_error_descriptions(path: str, method: str) -> dict[str, str]:
    """Return the error responses of an operation: descriptions by status."""
    errors = dict(COMMON_RESPONSES)
    if "{" in path:
        errors["404"] = find_not_found_description(path)
    if method in ("post", "put", "patch"):
        errors |= BODY_RESPONSES
    if path.endswith(DEFINITION_ACTIONS):
        errors |= DEFINITION_RESPONSES
    if method == "delete":
        errors["429"] = BODY_RESPONSES["429"]
    errors |= CONFLICT_RESPONSES.get(path.rpartition("/")[2], {})
    errors |= OPERATION_RESPONSES.get((method, path), {})
    if path.endswith(FETCH_ACTIONS):
        errors |= FETCH_RESPONSES
    return errors


def find_not_found_description(path: str) -> str:
    """Return the description of the first prefix of the path that has one."""
    for prefix, description in NOT_FOUND_DESCRIPTIONS.items():
        if path.startswith(prefix):
            return description
    return "Not found."


def build_error_response_schema(description: str) -> JSONObject:
    reference = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": reference}}
    return {"description": description, "content": content}
