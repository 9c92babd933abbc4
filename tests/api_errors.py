"""The API's one error shape, asserted in one place."""

import re

MEMBERS = {"error", "code", "details", "timestamp", "request_id"}


def assert_error_response(response, status: int, code: str) -> dict:
    """The answer is this error and nothing more; returns its body."""
    body = response.json()
    assert (response.status_code, body.get("code")) == (status, code), body
    assert set(body) == MEMBERS
    assert body["error"]
    assert isinstance(body["details"], dict)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", body["timestamp"])
    assert body["request_id"] == response["X-Request-ID"]
    assert response["Content-Type"] == "application/json"
    return body
