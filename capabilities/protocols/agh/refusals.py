"""Why a message is not taken, in AGH's own words."""

from enum import StrEnum

from ...problems import Problems


class ReasonCode(StrEnum):
    """The codes of both revisions of the protocol."""

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


class Refusal(Exception):
    """A message that is not taken: the code, the words, and where in it."""

    def __init__(self, reason_code: ReasonCode, message: str, path: str = "$") -> None:
        super().__init__(f"{path} {message}")
        self.reason_code = reason_code
        self.message = message
        self.path = path


class TooLarge(Refusal):
    """An envelope over the protocol's limit, coming in or going out."""


def malformed(message: str, path: str = "$") -> Refusal:
    return Refusal(ReasonCode.MALFORMED, message, path)


def refuse_any(problems: Problems) -> None:
    """Refuse for the first of the errors that were found, if there is one."""
    for problem in problems.errors[:1]:
        raise malformed(problem.message, problem.path)
