"""Middleware: request IDs, content security policy, ETags and API errors."""

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control

from catalog.api.base import REQUEST_ID_HEADER, get_request_id

from .errors import build_error_response
from .request_ids import current_request_id

RequestHandler = Callable[[HttpRequest], HttpResponse]

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)


def request_id_middleware(get_response: RequestHandler) -> RequestHandler:
    """Give every request an ID and return it in a response header."""

    def middleware(request: HttpRequest) -> HttpResponse:
        token = current_request_id.set(get_request_id(request))
        try:
            response = get_response(request)
            response[REQUEST_ID_HEADER] = get_request_id(request)
        finally:
            current_request_id.reset(token)
        return response

    return middleware


def content_security_policy_middleware(get_response: RequestHandler) -> RequestHandler:
    """Allow pages to load resources from this site only, and no inline scripts."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return middleware


def weak_etag_middleware(get_response: RequestHandler) -> RequestHandler:
    """Add an ETag to cacheable responses; respond with 304 if the client has it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not is_cacheable(request, response):
            return response
        if not response.has_header("ETag"):
            digest = hashlib.sha256(response.content).hexdigest()[:32]
            response["ETag"] = f'W/"{digest}"'
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        conditional = get_conditional_response(
            request, response["ETag"], None, response
        )
        # Only 304: Django would also respond with 412 to a read with If-Match.
        if conditional and conditional.status_code == HTTPStatus.NOT_MODIFIED:
            return conditional
        return response

    return middleware


def is_cacheable(request: HttpRequest, response: HttpResponse) -> bool:
    return (
        request.method in ("GET", "HEAD")
        and response.status_code == HTTPStatus.OK
        and not response.streaming
        and "no-store" not in response.get("Cache-Control", "")
    )


def api_errors_middleware(get_response: RequestHandler) -> RequestHandler:
    """Return API errors that no API view produced, such as a 404, as JSON."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_json = response.get("Content-Type", "").startswith("application/json")
        is_error = response.status_code >= HTTPStatus.BAD_REQUEST
        if is_error and not is_json and f"{request.path}/".startswith("/api/"):
            replace_with_api_error(response)
        return response

    return middleware


def replace_with_api_error(response: HttpResponse) -> None:
    """Replace the body of a response with an API error.

    A new response would lose the other headers, and Django would log the error twice.
    """
    error = build_error_response(response.status_code)
    response.content = error.content
    response["Content-Type"] = error["Content-Type"]
    response["Content-Length"] = str(len(error.content))
