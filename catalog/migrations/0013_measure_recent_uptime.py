"""Measure the uptime of the hours of which every probe is still kept.

Those are the last two days. Older hours have only counts and keep null: their uptime is
estimated from the counts when it is read, so that no large table is rewritten.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from catalog.conf import conf

HOUR = timedelta(hours=1)
ROWS_PER_STATEMENT = 1000
# More doublings do not prolong the interval.
MAX_DOUBLINGS = 20


def measure_hours(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    alias = schema_editor.connection.alias
    entries = apps.get_model("catalog", "CatalogEntry").objects.using(alias)
    for pk in list(entries.values_list("pk", flat=True)):
        columns = ("status", "last_probed_at", "last_error", "consecutive_failures")
        entry = entries.only("pk", *columns).get(pk=pk)
        # The probes of one entry fit into memory.
        probes = list(entry.probe_results.order_by("at").values_list("at", "error"))
        if probes:
            limits = list(iter_limits(probes, entry.consecutive_failures))
            fill_hours(entry, probes, limits)
            fill_last_outcome(entry, probes[-1], limits[-1])


def fill_hours(
    entry: Any, probes: list[tuple[datetime, str]], limits: list[datetime]
) -> None:
    """Save the seconds of hours that have none yet and of which all probes are kept."""
    kept = Counter(truncate(at) for at, _ in probes)
    hours = entry.health_hours
    rows = {row.hour: row for row in hours.filter(hour__gte=min(kept))}
    added, changed = [], []
    for hour, (up, down) in measure_times(probes, limits).items():
        row = rows.get(hour)
        if row is None:
            new_row = hours.model(
                entry=entry, hour=hour, up_seconds=up, down_seconds=down
            )
            added.append(new_row)
        elif row.up_seconds is None and row.probes == kept[hour]:
            row.up_seconds, row.down_seconds = up, down
            changed.append(row)
    hours.bulk_create(added)
    hours.bulk_update(changed, ["up_seconds", "down_seconds"], ROWS_PER_STATEMENT)


def fill_last_outcome(entry: Any, probe: tuple[datetime, str], limit: datetime) -> None:
    """Let the last outcome count on, unless the entry was changed since."""
    is_current = probe == (entry.last_probed_at, entry.last_error)
    if is_current and entry.status != "deprecated":
        entry.outcome_counts_until = limit
        entry.save(update_fields=["outcome_counts_until"])


def measure_times(
    probes: list[tuple[datetime, str]], limits: list[datetime]
) -> dict[datetime, list[float]]:
    """Return the seconds up and down by hour: each outcome counts until the next."""
    times = {hour: [0.0, 0.0] for hour in {truncate(at) for at, _ in probes}}
    for ((at, error), (next_at, _)), limit in zip(
        pairwise(probes), limits[:-1], strict=True
    ):
        for hour, seconds in split_by_hour(at, min(next_at, limit)):
            times.setdefault(hour, [0.0, 0.0])[bool(error)] += seconds
    return times


def iter_limits(
    probes: list[tuple[datetime, str]], last_failure_count: int
) -> Iterator[datetime]:
    """Yield until when each outcome counts at most, with the intervals set now."""
    # Failures before the first success may continue a series of any length.
    pauses = list(iter_longest_pauses())
    is_one_series = all(error for _, error in probes)
    failures = last_failure_count - len(probes) if is_one_series else len(pauses)
    for at, error in probes:
        failures = max(0, failures) + 1 if error else 0
        yield at + pauses[min(failures, len(pauses) - 1)]


def iter_longest_pauses() -> Iterator[timedelta]:
    """Yield how long after a probe the next one is overdue, by number of failures."""
    interval, offline_after = conf.PROBE_INTERVAL, conf.OFFLINE_AFTER
    longest = max(interval, conf.BACK_OFF_LIMIT)
    grace = conf.PROBE_LEASE + conf.PROBE_TIMEOUT
    for failures in range(offline_after + MAX_DOUBLINGS):
        doublings = max(0, failures - offline_after + 1)
        seconds = min(interval * 2.0**doublings, longest)
        yield timedelta(seconds=seconds * 1.1 + grace)


def split_by_hour(start: datetime, end: datetime) -> Iterator[tuple[datetime, float]]:
    while start < end:
        hour = truncate(start)
        next_start = min(hour + HOUR, end)
        yield hour, (next_start - start).total_seconds()
        start = next_start


def truncate(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def delete_hours_without_probes(
    apps: Apps, schema_editor: BaseDatabaseSchemaEditor
) -> None:
    """Delete the rows that earlier versions cannot read."""
    alias = schema_editor.connection.alias
    hours = apps.get_model("catalog", "HealthHour").objects.using(alias)
    hours.filter(probes=0).delete()


class Migration(migrations.Migration):
    dependencies = [("catalog", "0012_record_what_breaks_clients")]

    operations = [migrations.RunPython(measure_hours, delete_hours_without_probes)]
