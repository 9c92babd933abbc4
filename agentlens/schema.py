"""What the OpenAPI description says of every operation."""

ERROR_CODES = (
    *("INVALID_PARAMETER", "INVALID_KEY", "INVALID_BODY", "URL_NOT_ALLOWED"),
    *("INVALID_CAPABILITY_NAME", "INVALID_AGENT_ID", "INVALID_VERSION"),
    *("NOT_AUTHENTICATED", "PERMISSION_DENIED"),
    *("NOT_FOUND", "ENTRY_NOT_FOUND", "CAPABILITY_NOT_FOUND", "AGENT_NOT_FOUND"),
    *("REGISTRATION_NOT_FOUND", "PEER_NOT_FOUND", "METHOD_NOT_ALLOWED"),
    *("CONFLICT", "DUPLICATE_REGISTRATION"),
    *("BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"),
    *("INVALID_DEFINITION", "PROTOCOL_NOT_DETECTED", "ROUTING_STRATEGY_INVALID"),
    *("METADATA_FILTER_INVALID", "VERIFICATION_FAILED", "RATE_LIMITED"),
    *("FETCH_FAILED", "FETCH_TIMEOUT", "INTERNAL_ERROR"),
)
ERROR = {
    "type": "object",
    "description": "The one error shape.",
    "required": ["error", "code", "details", "timestamp", "request_id"],
    "properties": {
        "error": {"type": "string", "description": "For people."},
        "code": {
            "type": "string",
            "description": f"For programs; stable: {', '.join(ERROR_CODES)}.",
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
EVERY_OPERATION = {
    "400": "A parameter or the body is not valid, or a URL may not be visited.",
    "401": "No valid session or token.",
    "403": "The user may not do this.",
}
WITH_BODY = {
    "413": "The body is larger than 1 048 576 bytes.",
    "415": "The body is not of a supported media type.",
    "429": "Too many writes; `Retry-After` tells when.",
}
DEFINITION = {"422": "The definition is not valid; `details.errors` tells where."}
# Where a definition comes in, handed over or fetched.
WITH_DEFINITION = ("/validate", "/register", "/import", "/refresh")
CONFLICTS = {
    "probe": {"409": "This agent is never probed."},
    "refresh": {"409": "There is nowhere to refresh this agent from."},
}
REGISTRY = "/api/v1/registry/capabilities"
OWN = {
    ("get", "/api/v1/catalog/compare"): {"404": "One of the agents is not there."},
    ("post", "/api/v1/agh/envelopes"): {
        "404": "The peer that is addressed is not known.",
        "409": "The envelope was received already.",
        "422": "A digest or a privilege is not proven: `verification_failed`.",
    },
    ("post", REGISTRY): {
        "404": "There is no such agent.",
        "409": "The agent is registered for this capability already.",
    },
    ("get", f"{REGISTRY}/{{key}}"): {
        "422": "The routing strategy or the metadata filter is not valid.",
    },
}
IMPORTING = {"502": "The definition could not be fetched.", "504": "Nor in time."}
# Served beside Django, which therefore does not know of it.
STREAM = {
    "operationId": "registry_events",
    "summary": "Follow what happens to registrations",
    "description": "The events of `/ws/capabilities` as server-sent events, one after"
    " the other; `data` is the same JSON. It ends when one should come again.",
    "parameters": [
        {
            "in": "query",
            "name": "capability",
            "schema": {"type": "array", "items": {"type": "string"}},
            "description": "Only events of these; all without it.",
        }
    ],
    "tags": ["registry"],
    "security": [{"bearer": []}, {"cookieAuth": []}],
    "responses": {
        "200": {
            "description": "Events, for as long as one listens.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
}


def document_streams(result, generator, request, public):
    """Add what is not Django's to describe."""
    result["paths"]["/api/v1/registry/events"] = {"get": STREAM}
    return result


def document_errors(result, generator, request, public):
    """Add the errors that any operation can answer with."""
    result["components"]["schemas"]["Error"] = ERROR
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            for status, text in errors_of(path, method).items():
                operation["responses"].setdefault(status, error_response(text))
    return result


def errors_of(path: str, method: str) -> dict[str, str]:
    errors = dict(EVERY_OPERATION)
    if "{" in path:
        errors["404"] = "There is no such thing."
    if method in ("post", "put", "patch"):
        errors |= WITH_BODY
    if path.endswith(WITH_DEFINITION):
        errors |= DEFINITION
    if method == "delete":
        errors["429"] = WITH_BODY["429"]
    errors |= CONFLICTS.get(path.rpartition("/")[2], {})
    errors |= OWN.get((method, path), {})
    if path.endswith(("/import", "/refresh")):
        errors |= IMPORTING
    return errors


def error_response(description: str) -> dict:
    reference = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": reference}}
    return {"description": description, "content": content}
