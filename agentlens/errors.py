"""The API's one error shape, for every status and every route."""

import logging
from dataclasses import asdict
from http import HTTPStatus

from django.core.exceptions import PermissionDenied
from django.http import Http404, JsonResponse
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from capabilities.parsers import ParseError, ProtocolNotDetected
from catalog.api.base import EntryNotFound, Refusal
from catalog.models import CatalogEntry
from catalog.outbound import (
    FetchError,
    FetchFailed,
    FetchTimeout,
    TooBusy,
    UrlNotAllowed,
)

from .request_ids import current_request_id

logger = logging.getLogger(__name__)

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


def error_body(message: str, code: str, details: dict | None = None) -> dict:
    now = timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "error": message,
        "code": code,
        "details": details or {},
        "timestamp": now,
        "request_id": current_request_id.get(),
    }


def error_response(status: int, message: str = "") -> JsonResponse:
    """The answer where no view came to speak: unknown routes, crashes, bad hosts."""
    message = message or HTTPStatus(status).phrase
    code = CODES.get(status, CODES[400 if status < HTTPStatus(500) else 500])
    return JsonResponse(error_body(message, code), status=status)


def exception_handler(error, context):
    """What a view raised, in the one shape; None for what nobody foresaw."""
    described = describe(error)
    if described is None:
        return None
    set_rollback()
    status, body = described
    response = Response(body, status=status, headers=headers(error))
    # That somebody else's server fails is told to who asked, and no error of ours.
    response._has_been_logged = isinstance(error, FetchError)
    return response


def describe(error) -> tuple[int, dict] | None:
    if isinstance(error, ParseError):
        return describe_parse_error(error)
    for kind in type(error).__mro__:
        if kind in FETCH_ERRORS:
            status, code = FETCH_ERRORS[kind]
            return status, error_body(str(error), code)
    if isinstance(error, CatalogEntry.DoesNotExist):
        # Somebody removed it while it was being worked on.
        error = EntryNotFound()
    if isinstance(error, Refusal):
        code = error.default_code
        return error.status_code, error_body(str(error.detail), code, error.details)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if isinstance(error, exceptions.APIException):
        code = CODES.get(error.status_code, CODES[400])
        return error.status_code, error_body(message(error), code)
    return None


def describe_parse_error(error: ParseError) -> tuple[int, dict]:
    reading = error.reading
    errors = [asdict(problem) for problem in reading.errors]
    warnings = [asdict(problem) for problem in reading.warnings]
    code = "INVALID_DEFINITION"
    if isinstance(error, ProtocolNotDetected):
        code = "PROTOCOL_NOT_DETECTED"
    details = {"protocol": reading.protocol, "errors": errors, "warnings": warnings}
    return 422, error_body(str(error), code, details)


def message(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.UnsupportedMediaType):
        return f"{error.detail} Send application/json."
    return str(error.detail)


def headers(error) -> dict[str, str]:
    told = {}
    if getattr(error, "auth_header", None):
        told["WWW-Authenticate"] = error.auth_header
    if getattr(error, "wait", None):
        told["Retry-After"] = str(max(1, round(error.wait)))
    return told
