"""AGH peers in the catalog: what they say of themselves, and what we say for them."""

from .answering import transfer
from .known import Peer, find_entry, find_peer
from .local import import_local, is_known_from_files
from .taking import forget_seen, take

__all__ = [
    "Peer",
    "find_entry",
    "find_peer",
    "forget_seen",
    "import_local",
    "is_known_from_files",
    "take",
    "transfer",
]
