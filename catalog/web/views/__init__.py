"""The web pages: functions, one screen each."""

from .capabilities import capability_detail, capability_list
from .comparing import entry_compare
from .entries import entry_detail, entry_list
from .register import register
from .upkeep import entry_probe, entry_refresh

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
