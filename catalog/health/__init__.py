"""Probing agents: the probe, what it means, its history, and who is probed next."""

from .history import (
    DAY,
    HOUR,
    KEEP_PROBES,
    MINUTE,
    WINDOWS,
    Day,
    History,
    Remembered,
    hour_of,
    percent,
    percentile,
    prune_history,
    uptimes,
)
from .leases import claim_rows, lease_end
from .probe import Target, probe_target, target_of
from .scheduler import Prober, add_targets, in_database, is_recent
from .status import ERROR_LIMIT, Probe, after, ask_again_at, record, spread

__all__ = [
    "DAY",
    "ERROR_LIMIT",
    "HOUR",
    "KEEP_PROBES",
    "MINUTE",
    "WINDOWS",
    "Day",
    "History",
    "Probe",
    "Prober",
    "Remembered",
    "Target",
    "add_targets",
    "after",
    "ask_again_at",
    "claim_rows",
    "hour_of",
    "in_database",
    "is_recent",
    "lease_end",
    "percent",
    "percentile",
    "probe_target",
    "prune_history",
    "record",
    "spread",
    "target_of",
    "uptimes",
]
