"""An assertion about the error responses of the API."""

import re

ERROR_MEMBERS = {"error", "code", "details", "timestamp", "request_id"}


def assert_error_response(response, status: int, code: str) -> dict:
    """Assert that the response is this error and well-formed; return its body."""
    body = response.json()
    assert (response.status_code, body.get("code")) == (status, code), body
    assert set(body) == ERROR_MEMBERS
    assert body["error"]
    assert isinstance(body["details"], dict)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", body["timestamp"])
    assert body["request_id"] == response["X-Request-ID"]
    assert response["Content-Type"] == "application/json"
    return body
