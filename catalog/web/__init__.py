"""Web pages of the catalog."""

from .access import require_permission
from .htmx import wants_partial
from .icons import ICONS

__all__ = ["ICONS", "require_permission", "wants_partial"]
