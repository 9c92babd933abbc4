"""Health of agents: probes, the resulting state, history, and scheduling."""

from .history import (
    DAY,
    HOUR,
    MINUTE,
    PROBE_RETENTION,
    WINDOWS,
    Day,
    History,
    ProbeSample,
    format_percent,
    format_time_ago,
    percentile,
    prune_history,
    start_of_hour,
    uptime_by_entry,
)
from .leases import claim_rows, lease_end
from .probe import ProbeTarget, run_probe
from .scheduler import Prober, is_recent, register_probe_source, run_in_database
from .status import (
    ERROR_LIMIT,
    ProbeOutcome,
    add_jitter,
    next_probe_time,
    next_state,
    record_probe,
)

__all__ = [
    "DAY",
    "ERROR_LIMIT",
    "HOUR",
    "MINUTE",
    "PROBE_RETENTION",
    "WINDOWS",
    "Day",
    "History",
    "ProbeOutcome",
    "ProbeSample",
    "ProbeTarget",
    "Prober",
    "add_jitter",
    "claim_rows",
    "format_percent",
    "format_time_ago",
    "is_recent",
    "lease_end",
    "next_probe_time",
    "next_state",
    "percentile",
    "prune_history",
    "record_probe",
    "register_probe_source",
    "run_in_database",
    "run_probe",
    "start_of_hour",
    "uptime_by_entry",
]
