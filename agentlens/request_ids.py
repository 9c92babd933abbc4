"""One id per request: in its logs, its errors and its answer."""

import logging
import re
import secrets
from contextvars import ContextVar

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")

GIVEN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class RequestIdFilter(logging.Filter):
    """Puts the current request's id into every log line."""

    def filter(self, record):
        # What Django logs of an answer it logs when the request is over.
        request = getattr(record, "request", None)
        known = getattr(request, "request_id", None)
        record.request_id = known or current_request_id.get()
        return True


def id_for(request) -> str:
    """The caller's `X-Request-ID` when it is a plain one, else a new one."""
    given = request.headers.get("X-Request-ID", "")
    return given if GIVEN_ID.fullmatch(given) else f"req_{secrets.token_hex(8)}"


def request_id(get_response):
    """Gives every request its id, and tells it with the answer."""

    def middleware(request):
        request.request_id = id_for(request)
        mark = current_request_id.set(request.request_id)
        try:
            response = get_response(request)
            response["X-Request-ID"] = request.request_id
        finally:
            current_request_id.reset(mark)
        return response

    return middleware
