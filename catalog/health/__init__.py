"""Health of agents: probes, the resulting state, history, and scheduling."""

from .history import (
    DAY,
    HOUR,
    MINUTE,
    PERIODS,
    PROBE_RETENTION,
    Day,
    History,
    ProbeSample,
    compute_percentile,
    compute_uptimes,
    format_percent,
    format_time_ago,
    prune_history,
    truncate_to_hour,
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
    add_jitter,
    compute_next_probe_time,
    next_state,
    record_probe,
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
    "ProbeOutcome",
    "ProbeSample",
    "ProbeTarget",
    "Prober",
    "add_jitter",
    "claim_rows",
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
    "truncate_to_hour",
]
