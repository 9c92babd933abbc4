import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Case, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Cast, Coalesce, NullIf
from django.utils import timezone

from capabilities.validators import REGISTRATION_ID_PREFIX, REGISTRATION_NAME_LIMIT
from catalog.health import (
    DAY,
    HOUR,
    MINUTE,
    KnownTime,
    LastOutcome,
    truncate_to_hour,
)
from catalog.models import CatalogEntry, HealthHour, HourlyCount, Status

from .conf import conf
from .validators import (
    SEMANTIC_VERSION_LIMIT,
    validate_capability,
    validate_health_check_url,
    validate_version,
)

PRIORITY_LIMIT = 1000

DEFAULT_VERSION = "1.0.0"


class DesiredState(models.TextChoices):
    """The state that an operator sets, independent of the results of health checks."""

    ACTIVE = "active", "Active"
    INACTIVE = "inactive", "Inactive"
    DRAINING = "draining", "Draining"


UNHEALTHY = "unhealthy"
REGISTRATION_STATUSES = (*DesiredState.values, UNHEALTHY)
# The health of a registration, by the state of its agent or of its own check.
HEALTH_BY_STATUS: dict[str, str] = {
    Status.ACTIVE: "healthy",
    Status.DEGRADED: "degraded",
    Status.OFFLINE: UNHEALTHY,
    Status.DEPRECATED: UNHEALTHY,
    Status.UNKNOWN: "unknown",
}
UNHEALTHY_PROBE_STATUSES = [
    status for status, health in HEALTH_BY_STATUS.items() if health == UNHEALTHY
]

HAS_OWN_CHECK = Q(next_check_at__isnull=False)


def new_id() -> str:
    return REGISTRATION_ID_PREFIX + secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class MetricWindows:
    """The points in time that limit the metrics, or placeholders for them."""

    now: Any
    # Seconds since the epoch.
    minute_ago: Any
    hour_ago: Any
    # Starts of hours: a day ago, and now.
    first_hour: Any
    current_hour: Any
    # The fractions of the first and the current hour within the last day.
    first_hour_weight: Any
    current_hour_weight: Any

    @classmethod
    def ending_at(cls, now: datetime) -> Self:
        seconds, current_hour = int(now.timestamp()), truncate_to_hour(now)
        elapsed = now - current_hour
        return cls(
            now=now,
            minute_ago=seconds - 60,
            hour_ago=seconds - 3600,
            first_hour=truncate_to_hour(now - DAY),
            current_hour=current_hour,
            first_hour_weight=max(MINUTE, HOUR - elapsed) / HOUR,
            current_hour_weight=max(MINUTE, elapsed) / HOUR,
        )


class RegistrationQuerySet(models.QuerySet["CapabilityRegistration"]):
    def not_drained(self, now: Any = None) -> Self:
        """Exclude registrations that have finished draining but are not removed yet."""
        return self.exclude(drain_until__lte=now or timezone.now())

    def with_agent_type(self) -> Self:
        """Select the agent type for its endpoint, and defer large columns."""
        large_columns = ("window", "entry__agent_type__raw_definition")
        return self.select_related("entry__agent_type").defer(*large_columns)

    def with_state(self) -> Self:
        """Annotate `state` and what the catalog entry says about the agent.

        The state is that of the registration's own check, or else of the agent. A
        deprecated agent always counts as deprecated.
        """
        own_check = When(HAS_OWN_CHECK, then=F("check_state"))
        deprecated = When(
            entry__status=Status.DEPRECATED, then=Value(Status.DEPRECATED)
        )
        return self.annotate(
            state=Case(deprecated, own_check, default=F("entry__status")),
            agent_name=F("entry__display_name"),
            agent_probed_at=F("entry__last_probed_at"),
            agent_outcome_counts_until=F("entry__outcome_counts_until"),
            agent_latency_ms=F("entry__latency_ms"),
            agent_error=F("entry__last_error"),
            agent_failures=F("entry__consecutive_failures"),
        )

    def in_status(self, status: str) -> Self:
        """Keep registrations of a status; unhealthy ones do not count as active."""
        if status == UNHEALTHY:
            return self.filter(
                desired_state=DesiredState.ACTIVE, state__in=UNHEALTHY_PROBE_STATUSES
            )
        registrations = self.filter(desired_state=status)
        if status == DesiredState.ACTIVE:
            return registrations.exclude(state__in=UNHEALTHY_PROBE_STATUSES)
        return registrations

    def with_metrics(self, windows: MetricWindows | None = None) -> Self:
        """Annotate request counts and uptime, so that no metric needs a query."""
        windows = windows or MetricWindows.ending_at(timezone.now())
        up, down = agent_time_subqueries(windows)
        return self.defer("window").annotate(
            requests_last_minute=request_count_since(windows.minute_ago),
            requests_last_hour=request_count_since(windows.hour_ago),
            own_uptime=Case(When(HAS_OWN_CHECK, then=own_uptime_subquery(windows))),
            agent_up_seconds=Case(When(~HAS_OWN_CHECK, then=up)),
            agent_down_seconds=Case(When(~HAS_OWN_CHECK, then=down)),
        )


def own_uptime_subquery(windows: MetricWindows) -> Subquery:
    """Return the uptime by a registration's own check, as an average over hours.

    Every hour has the same weight, except for the first and the current one.
    """
    hours = CheckHour.objects.filter(registration=OuterRef("pk"))
    weight = hour_weight(windows, Q(hour=windows.current_hour))
    average = Sum(weight * FAILURE_RATE) / Sum(weight)
    return last_day_subquery(hours, "registration", 1.0 - average, windows)


def agent_time_subqueries(windows: MetricWindows) -> tuple[Subquery, Subquery]:
    """Return the seconds for which the probes found an agent up, and down.

    In hours from before time was measured, they are estimated from the counts.
    """
    hours = HealthHour.objects.filter(entry=OuterRef("entry_id"))
    is_unmeasured = Q(hour=windows.current_hour, up_seconds__isnull=True)
    weight = hour_weight(windows, is_unmeasured)
    seconds = HOUR.total_seconds()
    up = Coalesce(F("up_seconds"), seconds * (1.0 - FAILURE_RATE))
    down = Coalesce(F("down_seconds"), seconds * FAILURE_RATE)
    return (
        last_day_subquery(hours, "entry", Sum(weight * up), windows),
        last_day_subquery(hours, "entry", Sum(weight * down), windows),
    )


# Measured hours may be without probes.
FAILURE_RATE = F("failures") * 1.0 / NullIf(F("probes"), 0)


def hour_weight(windows: MetricWindows, is_partial: Q) -> Case:
    """Return the weight of an hour: `is_partial` matches the current one."""
    number = models.FloatField()
    return Case(
        When(is_partial, then=Cast(windows.current_hour_weight, number)),
        When(hour=windows.first_hour, then=Cast(windows.first_hour_weight, number)),
        default=1.0,
    )


def last_day_subquery(
    hours: models.QuerySet[Any], owner: str, value: Any, windows: MetricWindows
) -> Subquery:
    """Return an aggregate over the last day's hours of one owner."""
    last_day = hours.filter(hour__gte=windows.first_hour).order_by()
    # PostgreSQL returns a decimal without the cast, and raw SQL does not convert it.
    return Subquery(
        last_day.values(owner).values(value=Cast(value, models.FloatField()))
    )


def request_count_since(second: Any) -> Any:
    """Return an expression: all requests minus those reported until that second."""
    earlier = RequestSecond.objects.filter(
        registration=OuterRef("pk"), second__lte=second
    )
    earlier_total = Subquery(earlier.order_by("-second").values("total")[:1])
    return F("requests_total") - Coalesce(earlier_total, 0)


class RegistrationMetricsMixin:
    """Values computed from a registration's columns and the annotations above."""

    pk: str
    entry_id: UUID
    version: str
    priority: int
    metadata: dict[str, Any]
    desired_state: str
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
    agent_outcome_counts_until: datetime | None
    agent_latency_ms: int | None
    agent_error: str
    agent_failures: int
    requests_last_minute: int
    requests_last_hour: int
    own_uptime: float | None
    agent_up_seconds: float | None
    agent_down_seconds: float | None
    success_rate: float | None

    @property
    def agent_id(self) -> str:
        return str(self.entry_id)

    @property
    def health(self) -> str:
        return HEALTH_BY_STATUS[self.state]

    @property
    def status(self) -> str:
        is_active = self.desired_state == DesiredState.ACTIVE
        return (
            UNHEALTHY if is_active and self.health == UNHEALTHY else self.desired_state
        )

    @property
    def takes_traffic(self) -> bool:
        return self.status == DesiredState.ACTIVE

    @property
    def is_healthy(self) -> bool:
        return self.takes_traffic and self.health == "healthy"

    @property
    def has_own_check(self) -> bool:
        """Whether there is a health check URL that can be requested."""
        return self.next_check_at is not None

    @property
    def last_check(self) -> datetime | None:
        return self.checked_at if self.has_own_check else self.agent_probed_at

    @property
    def latency_ms(self) -> int | None:
        """Latency of the last successful check."""
        return self.check_latency_ms if self.has_own_check else self.agent_latency_ms

    @property
    def error(self) -> str:
        return self.check_error if self.has_own_check else self.agent_error

    @property
    def consecutive_failures(self) -> int:
        return self.check_failures if self.has_own_check else self.agent_failures

    @property
    def response_time_ms(self) -> float | None:
        """The average that callers reported, or else the latency of the last check."""
        reported = self.response_time_avg_ms
        return self.latency_ms if reported is None else reported

    @property
    def uptime(self) -> float | None:
        """The uptime of the last day; None if the agent was not probed in it."""
        if self.has_own_check:
            return self.own_uptime
        now = timezone.now()
        recorded = KnownTime(self.agent_up_seconds or 0, self.agent_down_seconds or 0)
        last_outcome = LastOutcome(
            self.agent_probed_at, self.agent_outcome_counts_until, self.agent_error
        )
        return (recorded + last_outcome.time_between(now - DAY, now)).uptime

    @property
    def reliability(self) -> float | None:
        """The success rate that callers reported, or else the uptime."""
        return self.uptime if self.success_rate is None else self.success_rate

    def get_gauge(self, name: str) -> float | None:
        """Return the reported value of a gauge, or None when it has expired."""
        reported_at: datetime | None = getattr(self, f"{name}_at")
        if reported_at is None:
            return None
        lifetime = timedelta(seconds=conf.GAUGE_LIFETIME)
        value: float | None = getattr(self, name)
        return value if timezone.now() - reported_at <= lifetime else None

    @property
    def current_load_score(self) -> float | None:
        return self.get_gauge("load_score")

    @property
    def current_concurrent_requests(self) -> float | None:
        return self.get_gauge("concurrent_requests")

    @property
    def current_queue_depth(self) -> float | None:
        return self.get_gauge("queue_depth")


# Migration 0001 refers to the mixin by this name.
Offer = RegistrationMetricsMixin


class CapabilityRegistration(RegistrationMetricsMixin, models.Model):
    """A catalog entry that is registered to take traffic for a capability."""

    id = models.CharField(
        primary_key=True, max_length=40, default=new_id, editable=False
    )
    entry = models.ForeignKey(
        CatalogEntry, on_delete=models.CASCADE, related_name="registrations"
    )
    capability = models.CharField(
        max_length=REGISTRATION_NAME_LIMIT, validators=[validate_capability]
    )
    version = models.CharField(
        max_length=SEMANTIC_VERSION_LIMIT,
        default=DEFAULT_VERSION,
        validators=[validate_version],
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
    desired_state = models.CharField(
        "status",
        max_length=20,
        choices=DesiredState.choices,
        default=DesiredState.ACTIVE,
    )
    # Registered by the agent's configuration file, which may also remove it.
    declared = models.BooleanField(default=False, editable=False)
    drain_until = models.DateTimeField(null=True, blank=True, editable=False)
    registered_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    # The result of the registration's own health check.
    check_state = models.CharField(
        max_length=20, choices=Status.choices, default=Status.UNKNOWN, editable=False
    )
    checked_at = models.DateTimeField(null=True, editable=False)
    check_latency_ms = models.PositiveIntegerField(null=True, editable=False)
    check_error = models.CharField(max_length=500, default="", editable=False)
    check_failures = models.PositiveIntegerField(default=0, editable=False)
    next_check_at = models.DateTimeField(null=True, db_index=True, editable=False)

    # Reported by callers: the last value of each gauge, and metrics of recent requests.
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

    def __str__(self) -> str:
        return f"{self.capability} by {self.entry}"

    def clean(self) -> None:
        # Django skips a field's validators when its value is null.
        if not isinstance(self.metadata, dict):
            raise ValidationError({"metadata": "This must be a JSON object."})


class CheckHour(HourlyCount):
    """Counts of the checks of a registration's own health check URL in one hour."""

    registration = models.ForeignKey(
        CapabilityRegistration,
        on_delete=models.CASCADE,
        related_name="check_hours",
        db_index=False,
    )

    class Meta(HourlyCount.Meta):
        db_table = "check_hours"
        constraints = [
            models.UniqueConstraint(
                fields=["registration", "hour"],
                name="one_row_per_registration_and_hour",
            )
        ]


class RequestSecond(models.Model):
    """The total of requests reported by the end of a second; kept for an hour.

    The difference between two totals is the number of requests between them, so a
    count over any period reads only two rows.
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

    def __str__(self) -> str:
        return f"{self.total} requests until {self.second}"


class RoutingCounter(models.Model):
    """The number of `load_balance` decisions for one capability and version."""

    key = models.CharField(primary_key=True, max_length=220)
    value = models.BigIntegerField(default=0)

    class Meta:
        db_table = "routing_counters"

    def __str__(self) -> str:
        return self.key
