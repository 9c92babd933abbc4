"""API error responses for errors outside of API views."""

from http import HTTPStatus

from django.http import JsonResponse

from catalog.api.base import ERROR_CODE_BY_STATUS, build_error_body

from .request_ids import current_request_id


def build_error_response(status: int, message: str = "") -> JsonResponse:
    """Return an error response, for instance for an unknown URL or a bad host."""
    message = message or HTTPStatus(status).phrase
    fallback = 400 if status < HTTPStatus.INTERNAL_SERVER_ERROR else 500
    code = ERROR_CODE_BY_STATUS.get(status, ERROR_CODE_BY_STATUS[fallback])
    return JsonResponse(
        build_error_body(message, code, current_request_id.get()), status=status
    )
