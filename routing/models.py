import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Case, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from capabilities.validators import NAME_LIMIT, RESERVED_PREFIX
from catalog.health import DAY, HOUR, MINUTE, hour_of
from catalog.models import CatalogEntry, HealthHour, HourCount, Status

from .conf import conf
from .validators import (
    VERSION_LIMIT,
    validate_capability,
    validate_health_check_url,
    validate_version,
)

PRIORITY_LIMIT = 1000


class Intent(models.TextChoices):
    """What people want of a registration; whether it is healthy, checks tell."""

    ACTIVE = "active", "Active"
    INACTIVE = "inactive", "Inactive"
    DRAINING = "draining", "Draining"


UNHEALTHY = "unhealthy"
STATUSES = (*Intent.values, UNHEALTHY)
# How a registration is, by the state of its agent or of its own check.
HEALTH = {
    Status.ACTIVE: "healthy",
    Status.DEGRADED: "degraded",
    Status.OFFLINE: UNHEALTHY,
    Status.DEPRECATED: UNHEALTHY,
    Status.UNKNOWN: "unknown",
}
GONE = [state for state, health in HEALTH.items() if health == UNHEALTHY]

CHECKED = Q(next_check_at__isnull=False)


def new_id() -> str:
    return RESERVED_PREFIX + secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Moments:
    """The points in time that figures are counted from, or what stands for them."""

    now: Any
    minute_ago: Any
    hour_ago: Any
    day_ago: Any
    this_hour: Any
    # As much of this hour as has gone by, and of that a day ago as has not.
    begun: Any
    left: Any

    @classmethod
    def until(cls, now: datetime) -> "Moments":
        seconds, this_hour = int(now.timestamp()), hour_of(now)
        begun = now - this_hour
        parts = (max(MINUTE, part) / HOUR for part in (begun, HOUR - begun))
        times = (seconds - 60, seconds - 3600, hour_of(now - DAY), this_hour)
        return cls(now, *times, *parts)


class RegistrationQuerySet(models.QuerySet):
    def present(self, now: Any = None) -> "RegistrationQuerySet":
        """Without those whose time to drain is over, swept or not."""
        return self.exclude(drain_until__lte=now or timezone.now())

    def to_be_asked(self) -> "RegistrationQuerySet":
        """With where each is, and without what is large."""
        large = ("window", "entry__agent_type__raw_definition")
        return self.select_related("entry__agent_type").defer(*large)

    def with_state(self) -> "RegistrationQuerySet":
        """Told by its own check if it has one, else by its agent's health."""
        own = When(CHECKED, then=F("check_state"))
        given_up = When(entry__status=Status.DEPRECATED, then=Value(Status.DEPRECATED))
        return self.annotate(
            state=Case(given_up, own, default=F("entry__status")),
            agent_name=F("entry__display_name"),
            agent_probed_at=F("entry__last_probed_at"),
            agent_latency_ms=F("entry__latency_ms"),
            agent_error=F("entry__last_error"),
            agent_failures=F("entry__consecutive_failures"),
        )

    def with_status(self, status: str) -> "RegistrationQuerySet":
        """Keep those of a status; active is who wants traffic and is not unhealthy."""
        if status == UNHEALTHY:
            return self.filter(intent=Intent.ACTIVE, state__in=GONE)
        kept = self.filter(intent=status)
        return kept.exclude(state__in=GONE) if status == Intent.ACTIVE else kept

    def with_figures(self, since: Moments | None = None) -> "RegistrationQuerySet":
        """All a provider's metrics need, in the one query."""
        since = since or Moments.until(timezone.now())
        own = uptime(CheckHour, "registration", "pk", since)
        agents = uptime(HealthHour, "entry", "entry_id", since)
        return self.defer("window").annotate(
            requests_last_minute=requests_since(since.minute_ago),
            requests_last_hour=requests_since(since.hour_ago),
            uptime=Case(When(CHECKED, then=own), default=agents),
        )


def uptime(hours: type[HourCount], owner: str, outer: str, since: Moments) -> Subquery:
    """Over a day, each hour counting the same, and two as far as they lie in it."""
    number = models.FloatField()
    weight = Case(
        When(hour=since.this_hour, then=Cast(since.begun, number)),
        When(hour=since.day_ago, then=Cast(since.left, number)),
        default=1.0,
    )
    up = 1.0 - F("failures") * 1.0 / F("probes")
    # Cast, for PostgreSQL would answer with a decimal, and raw SQL leaves it one.
    share = Cast(Sum(weight * up) / Sum(weight), number)
    counted = hours.objects.filter(**{owner: OuterRef(outer)}, hour__gte=since.day_ago)
    return Subquery(counted.order_by().values(owner).values(share=share))


def requests_since(second: Any) -> Any:
    """All that were reported, without those that had been by then."""
    earlier = RequestSecond.objects.filter(
        registration=OuterRef("pk"), second__lte=second
    )
    by_then = Subquery(earlier.order_by("-second").values("total")[:1])
    return F("requests_total") - Coalesce(by_then, 0)


class Offer:
    """What follows from an offer's columns, and from what the queries above add."""

    pk: str
    entry_id: UUID
    version: str
    priority: int
    metadata: dict[str, Any]
    intent: str
    next_check_at: datetime | None
    checked_at: datetime | None
    check_latency_ms: int | None
    check_error: str
    check_failures: int
    response_time_avg_ms: float | None
    load_score: float | None
    load_score_at: datetime | None
    queue_depth: int | None
    queue_depth_at: datetime | None
    concurrent_requests: int | None
    concurrent_requests_at: datetime | None
    state: str
    agent_name: str
    agent_probed_at: datetime | None
    agent_latency_ms: int | None
    agent_error: str
    agent_failures: int
    requests_last_minute: int
    requests_last_hour: int
    uptime: float | None
    success_rate: float | None

    @property
    def agent_id(self) -> str:
        return str(self.entry_id)

    @property
    def health(self) -> str:
        return HEALTH[self.state]

    @property
    def status(self) -> str:
        wanted = self.intent == Intent.ACTIVE
        return UNHEALTHY if wanted and self.health == UNHEALTHY else self.intent

    @property
    def takes_traffic(self) -> bool:
        return self.status == Intent.ACTIVE

    @property
    def is_healthy(self) -> bool:
        return self.takes_traffic and self.health == "healthy"

    @property
    def has_own_check(self) -> bool:
        """Whether somebody said where to ask, and that is an address to be asked."""
        return self.next_check_at is not None

    @property
    def last_check(self):
        return self.checked_at if self.has_own_check else self.agent_probed_at

    @property
    def latency_ms(self) -> int | None:
        """Of the last check that was answered."""
        return self.check_latency_ms if self.has_own_check else self.agent_latency_ms

    @property
    def error(self) -> str:
        return self.check_error if self.has_own_check else self.agent_error

    @property
    def consecutive_failures(self) -> int:
        return self.check_failures if self.has_own_check else self.agent_failures

    @property
    def response_time_ms(self) -> float | None:
        """On average, as callers saw it; until one tells, as the last check did."""
        told = self.response_time_avg_ms
        return self.latency_ms if told is None else told

    @property
    def reliability(self) -> float | None:
        """What share went well, as callers saw it; until one tells, as checks did."""
        return self.uptime if self.success_rate is None else self.success_rate

    def gauge(self, name: str) -> float | None:
        """What was last said of how busy it is, as long as that holds."""
        said_at = getattr(self, f"{name}_at")
        if said_at is None:
            return None
        lifetime = timedelta(seconds=conf.GAUGE_LIFETIME)
        return getattr(self, name) if timezone.now() - said_at <= lifetime else None

    @property
    def load(self) -> float | None:
        return self.gauge("load_score")

    @property
    def running(self) -> float | None:
        return self.gauge("concurrent_requests")

    @property
    def queued(self) -> float | None:
        return self.gauge("queue_depth")


class CapabilityRegistration(Offer, models.Model):
    """A catalog entry's offer to take traffic for a named capability."""

    id = models.CharField(
        primary_key=True, max_length=40, default=new_id, editable=False
    )
    entry = models.ForeignKey(
        CatalogEntry, on_delete=models.CASCADE, related_name="registrations"
    )
    capability = models.CharField(
        max_length=NAME_LIMIT, validators=[validate_capability]
    )
    version = models.CharField(
        max_length=VERSION_LIMIT, default="1.0.0", validators=[validate_version]
    )
    priority = models.PositiveSmallIntegerField(
        default=50, validators=[MaxValueValidator(PRIORITY_LIMIT)]
    )
    metadata = models.JSONField(blank=True, default=dict)
    health_check_url = models.CharField(
        "health check URL",
        max_length=2000,
        blank=True,
        default="",
        validators=[validate_health_check_url],
    )
    intent = models.CharField(
        max_length=20, choices=Intent.choices, default=Intent.ACTIVE
    )
    # By the agent's own configuration file, which may take it back.
    declared = models.BooleanField(default=False, editable=False)
    drain_until = models.DateTimeField(null=True, blank=True, editable=False)
    registered_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    # What its own health check found, in the words of the catalog.
    check_state = models.CharField(
        max_length=20, choices=Status.choices, default=Status.UNKNOWN, editable=False
    )
    checked_at = models.DateTimeField(null=True, editable=False)
    check_latency_ms = models.PositiveIntegerField(null=True, editable=False)
    check_error = models.CharField(max_length=500, default="", editable=False)
    check_failures = models.PositiveIntegerField(default=0, editable=False)
    next_check_at = models.DateTimeField(null=True, db_index=True, editable=False)

    # What callers report: gauges as last told, and figures of the last requests.
    concurrent_requests = models.PositiveIntegerField(null=True, editable=False)
    concurrent_requests_at = models.DateTimeField(null=True, editable=False)
    queue_depth = models.PositiveIntegerField(null=True, editable=False)
    queue_depth_at = models.DateTimeField(null=True, editable=False)
    load_score = models.FloatField(null=True, editable=False)
    load_score_at = models.DateTimeField(null=True, editable=False)
    requests_total = models.PositiveBigIntegerField(default=0, editable=False)
    window = models.BinaryField(default=b"", editable=False)
    response_time_avg_ms = models.FloatField(null=True, editable=False)
    response_time_p95_ms = models.PositiveIntegerField(null=True, editable=False)
    response_time_p99_ms = models.PositiveIntegerField(null=True, editable=False)
    success_rate = models.FloatField(null=True, editable=False)

    objects = RegistrationQuerySet.as_manager()

    class Meta:
        db_table = "capability_registrations"
        ordering = ["capability", "-priority", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "capability"], name="one_registration_per_capability"
            ),
            models.CheckConstraint(
                condition=Q(priority__lte=PRIORITY_LIMIT), name="priority_in_range"
            ),
        ]
        indexes = [
            models.Index(fields=["capability", "version"], name="registration_by_name")
        ]

    def __str__(self):
        return f"{self.capability} by {self.entry}"

    def clean(self):
        # No validator is asked about null.
        if not isinstance(self.metadata, dict):
            raise ValidationError({"metadata": "This must be a JSON object."})


class CheckHour(HourCount):
    """All checks of a registration's own health URL in one hour, counted."""

    registration = models.ForeignKey(
        CapabilityRegistration,
        on_delete=models.CASCADE,
        related_name="check_hours",
        db_index=False,
    )

    class Meta(HourCount.Meta):
        db_table = "check_hours"
        constraints = [
            models.UniqueConstraint(
                fields=["registration", "hour"],
                name="one_row_per_registration_and_hour",
            )
        ]


class RequestSecond(models.Model):
    """How many requests had been reported by the end of a second; kept for an hour.

    The difference of two tells how many there were between: two looks, however many
    seconds lie there.
    """

    registration = models.ForeignKey(
        CapabilityRegistration,
        on_delete=models.CASCADE,
        related_name="request_seconds",
        db_index=False,
    )
    second = models.BigIntegerField()
    total = models.PositiveBigIntegerField()

    class Meta:
        db_table = "request_seconds"
        constraints = [
            models.UniqueConstraint(
                fields=["registration", "second"], name="one_row_per_second"
            )
        ]

    def __str__(self):
        return f"{self.total} by {self.second}"


class RoutingCounter(models.Model):
    """How many times a balanced choice was made, for one capability and version."""

    key = models.CharField(primary_key=True, max_length=220)
    value = models.BigIntegerField(default=0)

    class Meta:
        db_table = "routing_counters"

    def __str__(self):
        return self.key
