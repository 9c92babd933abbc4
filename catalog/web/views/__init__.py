"""Views of the catalog's web pages."""

from .capabilities import capability_detail, capability_list
from .compare import entry_compare
from .entries import entry_detail, entry_list
from .maintenance import entry_probe, entry_refresh
from .register import register

__all__ = [
    "capability_detail",
    "capability_list",
    "entry_compare",
    "entry_detail",
    "entry_list",
    "entry_probe",
    "entry_refresh",
    "register",
]
