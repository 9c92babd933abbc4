"""The current request's id, for log lines and errors."""

import logging
from contextvars import ContextVar

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")


class RequestIdFilter(logging.Filter):
    """Puts the current request's id into every log line."""

    def filter(self, record):
        # What Django logs of an answer it logs when the request is over.
        request = getattr(record, "request", None)
        known = getattr(request, "request_id", None)
        record.request_id = known or current_request_id.get()
        return True
