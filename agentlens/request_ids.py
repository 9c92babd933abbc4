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
        record.request_id = current_request_id.get()
        return True


def request_id(get_response):
    """Takes the caller's `X-Request-ID` when it is a plain one, else makes one."""

    def middleware(request):
        given = request.headers.get("X-Request-ID", "")
        fresh = f"req_{secrets.token_hex(8)}"
        mark = current_request_id.set(given if GIVEN_ID.fullmatch(given) else fresh)
        try:
            response = get_response(request)
            response["X-Request-ID"] = current_request_id.get()
        finally:
            current_request_id.reset(mark)
        return response

    return middleware
