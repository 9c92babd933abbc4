"""The web pages of the catalog."""

from .access import permission_needed
from .htmx import wants_partial
from .icons import ICONS

__all__ = ["ICONS", "permission_needed", "wants_partial"]
