"""Register agents from documents, URLs and files, refresh and export them."""

from ..ingestion import AlreadyDefined
from .export import InvalidExportLine, export_lines
from .files import (
    ImportFailed,
    ImportItem,
    ImportPlan,
    SkippedPath,
    add_folder_reader,
    plan_import,
)
from .preview import (
    Preview,
    PreviewExpired,
    confirm_preview,
    preview_definition,
    preview_refresh,
    preview_url,
)
from .refresh import refresh_due_entries
from .service import (
    CANNOT_BE_PROBED,
    NotRefreshable,
    dry_run_refresh,
    import_url,
    probe_on_demand,
    refresh_entry,
    register,
)

__all__ = [
    "CANNOT_BE_PROBED",
    "AlreadyDefined",
    "ImportFailed",
    "ImportItem",
    "ImportPlan",
    "InvalidExportLine",
    "NotRefreshable",
    "Preview",
    "PreviewExpired",
    "SkippedPath",
    "add_folder_reader",
    "confirm_preview",
    "dry_run_refresh",
    "export_lines",
    "import_url",
    "plan_import",
    "preview_definition",
    "preview_refresh",
    "preview_url",
    "probe_on_demand",
    "refresh_due_entries",
    "refresh_entry",
    "register",
]
