"""The API's error format, and the exception handler that renders every error in it."""

import re
import secrets
from dataclasses import asdict, dataclass, field
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from capabilities.parsers import ParseError, ProtocolNotDetected

from ...discovery import get_failed_search
from ...models import CatalogEntry
from ...outbound import FetchError, FetchFailed, FetchTimeout, TooBusy, UrlNotAllowed
from .errors import APIError, EntryNotFound

ERROR_CODE_BY_STATUS = {
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
FETCH_ERRORS: dict[type, tuple[int, str]] = {
    UrlNotAllowed: (400, "URL_NOT_ALLOWED"),
    FetchFailed: (502, "FETCH_FAILED"),
    FetchTimeout: (504, "FETCH_TIMEOUT"),
    TooBusy: (429, "RATE_LIMITED"),
}
REQUEST_ID_HEADER = "X-Request-ID"
CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")

JSONObject = dict[str, Any]


@dataclass(frozen=True)
class ErrorDescription:
    """The parts of an error response that depend on the exception."""

    status: int
    message: str
    code: str
    details: JSONObject = field(default_factory=dict)


def get_request_id(request: HttpRequest) -> str:
    """Return the request's ID, and set it first if the request has none.

    It is the client's own ID, if that has only safe characters, or a new one.
    """
    request_id: str | None = getattr(request, "request_id", None)
    if request_id is None:
        client_id = request.headers.get(REQUEST_ID_HEADER, "")
        is_safe = CLIENT_REQUEST_ID.fullmatch(client_id)
        request_id = client_id if is_safe else f"req_{secrets.token_hex(8)}"
        request.request_id = request_id  # type: ignore[attr-defined]  # our attribute
    return request_id


def build_error_body(
    message: str, code: str, request_id: str, details: JSONObject | None = None
) -> JSONObject:
    now = timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "error": message,
        "code": code,
        "details": details or {},
        "timestamp": now,
        "request_id": request_id,
    }


def exception_handler(error: Exception, context: JSONObject) -> Response | None:
    """Return the error response for an exception, or None if it is unexpected."""
    description = describe_error(error)
    if description is None:
        return None
    set_rollback()
    request = context["request"]
    http_request = request._request if isinstance(request, Request) else request
    request_id = get_request_id(http_request)
    response = Response(
        build_error_body(
            description.message, description.code, request_id, description.details
        ),
        status=description.status,
        headers=build_error_headers(error) | {REQUEST_ID_HEADER: request_id},
    )
    # Django logs every 5xx response. A failed fetch is not logged, because it is the
    # agent that failed.
    is_logged = isinstance(error, FetchError)
    response._has_been_logged = is_logged  # type: ignore[attr-defined]  # of Django
    return response


def describe_error(error: Exception) -> ErrorDescription | None:
    """Describe an expected exception; return None for any other."""
    if isinstance(error, ParseError):
        return describe_parse_error(error)
    for error_class in type(error).__mro__:
        if error_class in FETCH_ERRORS:
            status, code = FETCH_ERRORS[error_class]
            return ErrorDescription(status, str(error), code, build_details(error))
    error = to_api_exception(error)
    if isinstance(error, APIError):
        return ErrorDescription(
            error.status_code, str(error.detail), error.default_code, error.details
        )
    if isinstance(error, exceptions.APIException):
        return ErrorDescription(
            error.status_code, get_message(error), get_error_code(error)
        )
    return None


def get_error_code(error: exceptions.APIException) -> str:
    """Return the error code; failed logins have one code for status 401 and 403."""
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return ERROR_CODE_BY_STATUS[401]
    return ERROR_CODE_BY_STATUS.get(error.status_code, ERROR_CODE_BY_STATUS[400])


def to_api_exception(error: Exception) -> Exception:
    """Convert Django's exceptions to those of Django REST framework."""
    if isinstance(error, CatalogEntry.DoesNotExist):
        # The entry was removed while the request was processed.
        return EntryNotFound()
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    return error


def describe_parse_error(error: ParseError) -> ErrorDescription:
    result = error.result
    code = "INVALID_DEFINITION"
    if isinstance(error, ProtocolNotDetected):
        code = "PROTOCOL_NOT_DETECTED"
    details = {
        "protocol": result.protocol,
        "errors": [asdict(problem) for problem in result.errors],
        "warnings": [asdict(problem) for problem in result.warnings],
        **build_details(error),
    }
    return ErrorDescription(422, str(error), code, details)


def build_details(error: Exception) -> JSONObject:
    """Return what was tried before an import or refresh failed, if anything."""
    search = get_failed_search(error)
    if not search.attempts:
        return {}
    attempts = [asdict(attempt) for attempt in search.attempts]
    return {"attempts": attempts, "can_be_stub": search.can_be_stub}


def get_message(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.UnsupportedMediaType):
        return f"{error.detail} Send application/json."
    return str(error.detail)


def build_error_headers(error: Exception) -> dict[str, str]:
    headers = {}
    if auth_header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(max(1, round(wait)))
    return headers
