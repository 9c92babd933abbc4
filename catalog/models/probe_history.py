"""The history of probes: each recent probe, hourly counts and hourly uptime."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Protocol, Self

from django.db import models


class ProbeResult(models.Model):
    """A probe of an entry; deleted after two days."""

    entry = models.ForeignKey(
        "catalog.CatalogEntry",
        on_delete=models.CASCADE,
        related_name="probe_results",
        db_index=False,
    )
    at = models.DateTimeField(db_index=True)
    latency_ms = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        db_table = "probe_results"
        ordering = ["-at"]
        indexes = [models.Index(fields=["entry", "-at"], name="probe_of_entry")]

    def __str__(self) -> str:
        return self.error or f"{self.latency_ms} ms"

    @property
    def ok(self) -> bool:
        return not self.error


# The ID of the owner and the start of the hour.
RowKey = tuple[Any, datetime]


class HourlyCountQuerySet(models.QuerySet[Any]):
    def add_probes(self, owner_column: str, probes: Mapping[RowKey, Any]) -> None:
        """Count one more probe for each key, an owner ID and an hour.

        The caller has locked the owners, because concurrent writers could lose counts.
        """
        rows = self.get_or_build_rows(owner_column, probes)
        for key, probe in probes.items():
            rows[key].add_probe(probe.latency_ms, probe.error)
        self.save_rows(owner_column, rows.values())

    def get_or_build_rows(
        self, owner_column: str, keys: Iterable[RowKey]
    ) -> dict[RowKey, Any]:
        """Return a row for each key; rows that do not exist are not saved yet."""
        keys = list(keys)
        owner_ids = {owner_id for owner_id, _ in keys}
        hours = {hour for _, hour in keys}
        existing = self.filter(**{f"{owner_column}__in": owner_ids}, hour__in=hours)
        rows = {(getattr(row, owner_column), row.hour): row for row in existing}
        for owner_id, hour in keys:
            if (owner_id, hour) not in rows:
                owner = {owner_column: owner_id}
                rows[owner_id, hour] = self.model.build_empty(**owner, hour=hour)
        return {key: rows[key] for key in keys}

    def save_rows(self, owner_column: str, rows: Iterable[Any]) -> None:
        """Insert or update rows, each of another owner or hour."""
        self.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=[owner_column.removesuffix("_id"), "hour"],
            update_fields=self.model.counted_fields,
        )


class ProbeCountMixin:
    """Success rate and mean latency, computed from counts of probes."""

    # Fields of a model or a dataclass.
    probes: Any
    failures: Any
    latency_total_ms: Any

    @property
    def success_rate(self) -> float:
        return 1 - float(self.failures / self.probes)

    @property
    def latency_ms(self) -> int | None:
        """The mean latency; None without successes and for agents that announce."""
        successes = self.probes - self.failures
        has_latency = successes and self.latency_total_ms
        return round(self.latency_total_ms / successes) if has_latency else None


class HourlyCount(ProbeCountMixin, models.Model):
    """Counts of the probes in one hour; subclasses add the owner."""

    hour = models.DateTimeField(db_index=True)
    probes = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    # The sum over all successful probes.
    latency_total_ms = models.PositiveBigIntegerField(default=0)

    objects = HourlyCountQuerySet.as_manager()
    counted_fields: ClassVar[list[str]] = ["probes", "failures", "latency_total_ms"]

    class Meta:
        abstract = True
        ordering = ["hour"]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h"

    @classmethod
    def build_empty(cls, **owner_and_hour: Any) -> Self:
        """Return an unsaved row without probes."""
        return cls(**owner_and_hour)

    def add_probe(self, latency_ms: int | None, error: str) -> None:
        self.probes += 1
        self.failures += bool(error)
        self.latency_total_ms += latency_ms or 0


class MeasuredTime(Protocol):
    """The seconds for which an agent was known to be up, and to be down."""

    @property
    def up(self) -> float: ...

    @property
    def down(self) -> float: ...


class HealthHourQuerySet(HourlyCountQuerySet):
    def add_history(
        self, probes: Mapping[RowKey, Any], times: Mapping[RowKey, MeasuredTime]
    ) -> None:
        """Count one more probe for each key of `probes`, and add the measured times.

        The caller has locked the entries.
        """
        rows = self.get_or_build_rows("entry_id", dict.fromkeys([*probes, *times]))
        for key, probe in probes.items():
            rows[key].add_probe(probe.latency_ms, probe.error)
        for key, time in times.items():
            rows[key].add_time(time)
        self.save_rows("entry_id", rows.values())


class HealthHour(HourlyCount):
    """The probes and the uptime of an entry in one hour; deleted after 90 days.

    An hour may be without probes: an outcome counts until the next one.
    """

    entry = models.ForeignKey(
        "catalog.CatalogEntry",
        on_delete=models.CASCADE,
        related_name="health_hours",
        db_index=False,
    )
    # Seconds for which the agent is known to have been up and down. Both are null in
    # hours from before time was measured, whose uptime is estimated from the counts.
    up_seconds = models.FloatField(null=True)
    down_seconds = models.FloatField(null=True)

    objects: ClassVar[Any] = HealthHourQuerySet.as_manager()
    counted_fields: ClassVar[list[str]] = [
        *HourlyCount.counted_fields,
        "up_seconds",
        "down_seconds",
    ]

    class Meta(HourlyCount.Meta):
        db_table = "health_hours"
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "hour"], name="one_row_per_entry_and_hour"
            )
        ]

    @classmethod
    def build_empty(cls, **owner_and_hour: Any) -> Self:
        return cls(**owner_and_hour, up_seconds=0.0, down_seconds=0.0)

    def add_time(self, time: MeasuredTime) -> None:
        """Add seconds; leave a row from before time was measured unchanged."""
        if self.up_seconds is not None and self.down_seconds is not None:
            self.up_seconds += time.up
            self.down_seconds += time.down
