"""What every response gets: an id, an ETag, a policy, and errors in one shape."""

import hashlib
from http import HTTPStatus

from django.utils.cache import get_conditional_response, patch_cache_control

from catalog.api.base import REQUEST_ID, request_id_of

from .errors import error_response
from .request_ids import current_request_id

POLICY = "; ".join(
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


def request_id(get_response):
    """Give every request an id, and return it with the response."""

    def middleware(request):
        mark = current_request_id.set(request_id_of(request))
        try:
            response = get_response(request)
            response[REQUEST_ID] = request_id_of(request)
        finally:
            current_request_id.reset(mark)
        return response

    return middleware


def content_security_policy(get_response):
    """Nothing is loaded from anywhere else, and no script stands in a page."""

    def middleware(request):
        response = get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response

    return middleware


def weak_etag(get_response):
    """An ETag on what may be kept, and 304 to whoever kept it."""

    def middleware(request):
        response = get_response(request)
        if not may_be_kept(request, response):
            return response
        if not response.has_header("ETag"):
            digest = hashlib.sha256(response.content).hexdigest()[:32]
            response["ETag"] = f'W/"{digest}"'
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        answer = get_conditional_response(request, response["ETag"], None, response)
        # Only that: what must not have changed since is for writes to ask.
        return answer if answer.status_code == HTTPStatus.NOT_MODIFIED else response

    return middleware


def may_be_kept(request, response) -> bool:
    return (
        request.method in ("GET", "HEAD")
        and response.status_code == HTTPStatus.OK
        and not response.streaming
        and "no-store" not in response.get("Cache-Control", "")
    )


def api_errors(get_response):
    """An error that no view of the API told, in the API's shape all the same."""

    def middleware(request):
        response = get_response(request)
        told = response.get("Content-Type", "").startswith("application/json")
        failed = response.status_code >= HTTPStatus.BAD_REQUEST
        if failed and not told and f"{request.path}/".startswith("/api/"):
            retell(response)
        return response

    return middleware


def retell(response):
    """In place: its other headers hold, and an error logged is not logged again."""
    told = error_response(response.status_code)
    response.content = told.content
    response["Content-Type"] = told["Content-Type"]
    response["Content-Length"] = len(told.content)
