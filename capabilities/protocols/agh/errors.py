"""Errors of AGH envelopes and their reason codes."""

from enum import StrEnum

from ...problems import Problems


class ReasonCode(StrEnum):
    """The reason codes of both revisions of the protocol."""

    MALFORMED = "malformed"
    EXPIRED = "expired"
    DUPLICATE = "duplicate"
    UNSUPPORTED_KIND = "unsupported_kind"
    UNSUPPORTED_PROFILE = "unsupported_profile"
    VERIFICATION_FAILED = "verification_failed"
    NOT_TARGET = "not_target"
    NOT_FOUND = "not_found"
    BUSY = "busy"
    INTERNAL = "internal"
    INTERACTION_CLOSED = "interaction_closed"
    INVALID_SURFACE = "invalid_surface"
    CONVERSATION_NOT_FOUND = "conversation_not_found"
    WORK_CLOSED = "work_closed"
    WORK_CONTAINER_MISMATCH = "work_container_mismatch"
    LEGACY_FIELD_REJECTED = "legacy_field_rejected"


class EnvelopeError(Exception):
    """An envelope is rejected; `path` is the JSON path of the offending value."""

    def __init__(self, reason_code: ReasonCode, message: str, path: str = "$") -> None:
        super().__init__(f"{path} {message}")
        self.reason_code = reason_code
        self.message = message
        self.path = path


class EnvelopeTooLarge(EnvelopeError):
    """An envelope, or the documents of a peer, would exceed a size limit."""


def build_malformed_error(message: str, path: str = "$") -> EnvelopeError:
    return EnvelopeError(ReasonCode.MALFORMED, message, path)


def raise_first_error(problems: Problems) -> None:
    """Raise EnvelopeError for the first error in `problems`, if there is one."""
    if problems.errors:
        problem = problems.errors[0]
        raise build_malformed_error(problem.message, problem.path)
