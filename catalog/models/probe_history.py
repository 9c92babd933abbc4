from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import models


class ProbeResult(models.Model):
    """One probe of an entry; kept for two days."""

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

    def __str__(self):
        return self.error or f"{self.latency_ms} ms"

    @property
    def ok(self) -> bool:
        return not self.error


class HourlyCountQuerySet(models.QuerySet):
    def add_probes(self, owner: str, probes: Mapping[tuple[Any, datetime], Any]):
        """One more each, by owner and hour; the caller holds the owners meanwhile."""
        owners = {key for key, _ in probes}
        hours = {hour for _, hour in probes}
        known = self.filter(**{f"{owner}__in": owners}, hour__in=hours)
        counts = {(getattr(row, owner), row.hour): row for row in known}
        for key, probe in probes.items():
            fresh = self.model(**{owner: key[0]}, hour=key[1])
            counts.setdefault(key, fresh).count(probe.latency_ms, probe.error)
        self.bulk_create(
            [counts[key] for key in probes],
            update_conflicts=True,
            unique_fields=[owner.removesuffix("_id"), "hour"],
            update_fields=["probes", "failures", "latency_total_ms"],
        )


class UptimeMixin:
    """What follows from counts of probes."""

    probes: Any
    failures: Any
    latency_total_ms: Any

    @property
    def uptime(self) -> float:
        return 1 - self.failures / self.probes

    @property
    def latency_ms(self) -> int | None:
        """On average; None where nobody answered, or nobody was asked but heard."""
        answered = self.probes - self.failures
        timed = answered and self.latency_total_ms
        return round(self.latency_total_ms / answered) if timed else None


class HourlyCount(UptimeMixin, models.Model):
    """All probes of something in one hour, counted."""

    hour = models.DateTimeField(db_index=True)
    probes = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    # Of the probes that were answered, all together.
    latency_total_ms = models.PositiveBigIntegerField(default=0)

    objects = HourlyCountQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["hour"]

    def __str__(self):
        return f"{self.hour:%Y-%m-%d %H}h"

    def count(self, latency_ms: int | None, error: str) -> None:
        self.probes += 1
        self.failures += bool(error)
        self.latency_total_ms += latency_ms or 0


class HealthHour(HourlyCount):
    """Of an entry; kept for ninety days."""

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
