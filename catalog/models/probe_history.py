"""The history of probes: each recent probe, and hourly counts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

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


class HourlyCountQuerySet(models.QuerySet[Any]):
    def add_probes(
        self, owner_column: str, probes: Mapping[tuple[Any, datetime], Any]
    ) -> None:
        """Count one more probe for each key, an owner ID and an hour.

        The caller has locked the owners, because concurrent writers could lose counts.
        """
        owner_ids = {owner_id for owner_id, _ in probes}
        hours = {hour for _, hour in probes}
        existing = self.filter(**{f"{owner_column}__in": owner_ids}, hour__in=hours)
        rows = {(getattr(row, owner_column), row.hour): row for row in existing}
        for key, probe in probes.items():
            owner_id, hour = key
            if key not in rows:
                rows[key] = self.model(**{owner_column: owner_id}, hour=hour)
            rows[key].add_probe(probe.latency_ms, probe.error)
        self.bulk_create(
            [rows[key] for key in probes],
            update_conflicts=True,
            unique_fields=[owner_column.removesuffix("_id"), "hour"],
            update_fields=["probes", "failures", "latency_total_ms"],
        )


class UptimeMixin:
    """Uptime and mean latency, computed from counts of probes."""

    # Fields of a model or a dataclass.
    probes: Any
    failures: Any
    latency_total_ms: Any

    @property
    def uptime(self) -> float:
        return 1 - float(self.failures / self.probes)

    @property
    def latency_ms(self) -> int | None:
        """The mean latency; None without successes and for agents that announce."""
        successes = self.probes - self.failures
        has_latency = successes and self.latency_total_ms
        return round(self.latency_total_ms / successes) if has_latency else None


class HourlyCount(UptimeMixin, models.Model):
    """Counts of the probes in one hour; subclasses add the owner."""

    hour = models.DateTimeField(db_index=True)
    probes = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    # The sum over all successful probes.
    latency_total_ms = models.PositiveBigIntegerField(default=0)

    objects = HourlyCountQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["hour"]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h"

    def add_probe(self, latency_ms: int | None, error: str) -> None:
        self.probes += 1
        self.failures += bool(error)
        self.latency_total_ms += latency_ms or 0


class HealthHour(HourlyCount):
    """The probes of an entry in one hour; deleted after 90 days."""

    entry = models.ForeignKey(
        "catalog.CatalogEntry",
        on_delete=models.CASCADE,
        related_name="health_hours",
        db_index=False,
    )

    class Meta(HourlyCount.Meta):
        db_table = "health_hours"
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "hour"], name="one_row_per_entry_and_hour"
            )
        ]
