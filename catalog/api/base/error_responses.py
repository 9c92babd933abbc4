"""The one error shape of the API, for whatever a view raises."""

import re
import secrets
from dataclasses import asdict
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from capabilities.parsers import ParseError, ProtocolNotDetected

from ...models import CatalogEntry
from ...outbound import FetchError, FetchFailed, FetchTimeout, TooBusy, UrlNotAllowed
from .errors import EntryNotFound, Refusal

CODES = {
    400: "INVALID_PARAMETER",
    401: "NOT_AUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "INVALID_PARAMETER",
    413: "BODY_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "RATE_LIMITED",
    500: "INTERNAL_ERROR",
}
FETCH_ERRORS = {
    UrlNotAllowed: (400, "URL_NOT_ALLOWED"),
    FetchFailed: (502, "FETCH_FAILED"),
    FetchTimeout: (504, "FETCH_TIMEOUT"),
    TooBusy: (429, "RATE_LIMITED"),
}
REQUEST_ID = "X-Request-ID"
GIVEN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")

Body = dict[str, Any]


def request_id_of(request: HttpRequest) -> str:
    """Return the request's id: one it has, the caller's own if plain, or a new one."""
    if not hasattr(request, "request_id"):
        given = request.headers.get(REQUEST_ID, "")
        is_plain = GIVEN_ID.fullmatch(given)
        request.request_id = given if is_plain else f"req_{secrets.token_hex(8)}"
    return request.request_id


def error_body(
    message: str, code: str, request_id: str, details: Body | None = None
) -> Body:
    now = timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "error": message,
        "code": code,
        "details": details or {},
        "timestamp": now,
        "request_id": request_id,
    }


def exception_handler(error: Exception, context: Body) -> Response | None:
    """Answer what a view raised in the one shape; None for an unforeseen error."""
    described = describe(error)
    if described is None:
        return None
    set_rollback()
    status, message, code, details = described
    request = context["request"]
    request_id = request_id_of(getattr(request, "_request", request))
    response = Response(
        error_body(message, code, request_id, details),
        status=status,
        headers=headers(error) | {REQUEST_ID: request_id},
    )
    # The failure of somebody else's server is no error of this one, to be logged.
    response._has_been_logged = isinstance(error, FetchError)
    return response


def describe(error: Exception) -> tuple[int, str, str, Body] | None:
    """Status, message, code and details of an error that is foreseen."""
    if isinstance(error, ParseError):
        return describe_parse_error(error)
    for kind in type(error).__mro__:
        if kind in FETCH_ERRORS:
            status, code = FETCH_ERRORS[kind]
            return status, str(error), code, {}
    error = as_api_exception(error)
    if isinstance(error, Refusal):
        code = error.default_code
        return error.status_code, str(error.detail), code, error.details
    if isinstance(error, exceptions.APIException):
        return error.status_code, message(error), code_of(error), {}
    return None


def code_of(error: exceptions.APIException) -> str:
    """The stable code; a missing login is one with status 403 as well as 401."""
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return CODES[401]
    return CODES.get(error.status_code, CODES[400])


def as_api_exception(error: Exception) -> Exception:
    """Turn Django's own exceptions into those of the API."""
    if isinstance(error, CatalogEntry.DoesNotExist):
        # Removed while the request was being handled.
        return EntryNotFound()
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    return error


def describe_parse_error(error: ParseError) -> tuple[int, str, str, Body]:
    reading = error.reading
    errors = [asdict(problem) for problem in reading.errors]
    warnings = [asdict(problem) for problem in reading.warnings]
    code = "INVALID_DEFINITION"
    if isinstance(error, ProtocolNotDetected):
        code = "PROTOCOL_NOT_DETECTED"
    details = {"protocol": reading.protocol, "errors": errors, "warnings": warnings}
    return 422, str(error), code, details


def message(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.UnsupportedMediaType):
        return f"{error.detail} Send application/json."
    return str(error.detail)


def headers(error: Exception) -> dict[str, str]:
    extra = {}
    if getattr(error, "auth_header", None):
        extra["WWW-Authenticate"] = error.auth_header
    if getattr(error, "wait", None):
        extra["Retry-After"] = str(max(1, round(error.wait)))
    return extra
