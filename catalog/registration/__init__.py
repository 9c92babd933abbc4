"""From a document, a URL or a file to a catalog entry, and back to a file."""

from .export import NotTransferable, export_lines
from .files import ImportRefused, Item, add_folder_reader, items_in
from .preview import Expired, Review, accept, look_again, look_at, look_at_url
from .refresh import refresh_due
from .service import (
    NotRefreshable,
    dry_run_refresh,
    import_url,
    probe_asked,
    refresh_entry,
    register,
)

__all__ = [
    "Expired",
    "ImportRefused",
    "Item",
    "NotRefreshable",
    "NotTransferable",
    "Review",
    "accept",
    "add_folder_reader",
    "dry_run_refresh",
    "export_lines",
    "import_url",
    "items_in",
    "look_again",
    "look_at",
    "look_at_url",
    "probe_asked",
    "refresh_due",
    "refresh_entry",
    "register",
]
