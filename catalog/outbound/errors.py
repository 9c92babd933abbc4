"""Why an agent could not be reached."""

import httpcore2


class FetchError(Exception):
    """A definition that could not be fetched."""


class UrlNotAllowed(FetchError):
    """An address that nobody may make us visit."""


class FetchFailed(FetchError):
    """The other side refused, misbehaved or does not exist."""


class NothingThere(FetchFailed):
    """The other side lives, and has nothing of what was asked for at this place."""


class AuthorizationNeeded(FetchFailed):
    """The other side lives, and tells only those it knows."""


class ConversationInterrupted(FetchFailed):
    """The other side began to answer in its protocol, and did not finish."""


class FetchTimeout(FetchError):
    """The other side took longer than we wait."""


class NoAddress(httpcore2.ConnectError):
    """A host by a name that nobody knows."""


class TooBusy(FetchError):
    """Nobody was asked: too many are being asked already."""

    # Seconds after which it is worth trying again.
    wait: float = 1
