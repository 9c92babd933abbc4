"""The ID of the current request, for log lines and error responses."""

import logging
from contextvars import ContextVar

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")


class RequestIdFilter(logging.Filter):
    """Adds the ID of the current request to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Django logs some responses after the request, when the variable is reset.
        request = getattr(record, "request", None)
        request_id = getattr(request, "request_id", None)
        record.request_id = request_id or current_request_id.get()
        return True
