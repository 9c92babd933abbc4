"""What the OpenAPI description says of every operation."""

ERROR = {
    "type": "object",
    "description": "The one error shape.",
    "required": ["error", "code", "details", "timestamp", "request_id"],
    "properties": {
        "error": {"type": "string", "description": "For people."},
        "code": {"type": "string", "description": "For programs; stable."},
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
    "422": "The definition is not valid; `details.errors` tells where.",
    "429": "Too many writes; `Retry-After` tells when.",
}
IMPORTING = {"502": "The definition could not be fetched.", "504": "Nor in time."}


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
    if method in ("post", "patch"):
        errors |= WITH_BODY
    if method == "delete":
        errors["429"] = WITH_BODY["429"]
    if path.endswith("/probe"):
        errors["409"] = "This agent is never probed."
    if path.endswith("/import"):
        errors |= IMPORTING
    return errors


def error_response(description: str) -> dict:
    reference = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": reference}}
    return {"description": description, "content": content}
