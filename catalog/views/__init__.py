"""The web pages: functions, one screen each."""

from .capabilities import capability_detail, capability_list
from .entries import entry_detail, entry_list, entry_probe
from .register import register

__all__ = [
    "capability_detail",
    "capability_list",
    "entry_detail",
    "entry_list",
    "entry_probe",
    "register",
]
