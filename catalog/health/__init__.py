"""Health of agents: probes, the resulting state, history, and scheduling."""

from .history import (
    PERIODS,
    PROBE_RETENTION,
    Day,
    History,
    ProbeSample,
    close_last_outcome,
    compute_percentile,
    compute_uptimes,
    format_percent,
    format_time_ago,
    prune_history,
)
from .leases import claim_rows, compute_lease_end
from .probe import ProbeTarget, run_probe
from .scheduler import (
    Prober,
    is_within_back_off_limit,
    register_probe_targets,
    run_in_database,
)
from .status import (
    ERROR_LIMIT,
    ProbeOutcome,
    activate_declared,
    add_jitter,
    compute_next_probe_time,
    next_state,
    record_probe,
)
from .uptime import (
    DAY,
    HOUR,
    MINUTE,
    KnownTime,
    LastOutcome,
    split_by_hour,
    truncate_to_hour,
)

__all__ = [
    "DAY",
    "ERROR_LIMIT",
    "HOUR",
    "MINUTE",
    "PERIODS",
    "PROBE_RETENTION",
    "Day",
    "History",
    "KnownTime",
    "LastOutcome",
    "ProbeOutcome",
    "ProbeSample",
    "ProbeTarget",
    "Prober",
    "activate_declared",
    "add_jitter",
    "claim_rows",
    "close_last_outcome",
    "compute_lease_end",
    "compute_next_probe_time",
    "compute_percentile",
    "compute_uptimes",
    "format_percent",
    "format_time_ago",
    "is_within_back_off_limit",
    "next_state",
    "prune_history",
    "record_probe",
    "register_probe_targets",
    "run_in_database",
    "run_probe",
    "split_by_hour",
    "truncate_to_hour",
]
