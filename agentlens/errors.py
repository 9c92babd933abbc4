"""Errors where no view of the API came to answer, in the API's one shape."""

from http import HTTPStatus

from django.http import JsonResponse

from catalog.api.base import CODES, error_body

from .request_ids import current_request_id


def error_response(status: int, message: str = "") -> JsonResponse:
    """Answer an unknown route, a crash or a bad host."""
    message = message or HTTPStatus(status).phrase
    code = CODES.get(status, CODES[400 if status < HTTPStatus(500) else 500])
    return JsonResponse(
        error_body(message, code, current_request_id.get()), status=status
    )
