from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.db import models, transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from capabilities.features import COUNT_FEATURES_BY_ROLE
from capabilities.kinds import kinds_with_role
from capabilities.parsers import ParseResult, can_be_probed, try_parse
from capabilities.records import is_web_url

from ..events import EntryRemoved, publish
from .agent_type import AgentType
from .capability import Capability, build_capability_counts


class Status(models.TextChoices):
    UNKNOWN = "unknown", "Unknown"
    ACTIVE = "active", "Active"
    DEGRADED = "degraded", "Degraded"
    OFFLINE = "offline", "Offline"
    DEPRECATED = "deprecated", "Deprecated"


REACHABLE_STATUSES = (Status.ACTIVE, Status.DEGRADED)


class Source(models.TextChoices):
    PUSH = "push", "Registered"
    IMPORT = "import", "Imported"
    CONFIG = "config", "Configuration"
    UPSTREAM = "upstream", "Upstream registry"
    DEMO = "demo", "Demo"


class CatalogEntryQuerySet(models.QuerySet["CatalogEntry"]):
    def for_display(self) -> CatalogEntryQuerySet:
        """Fetch everything that lists show, and defer the raw definition."""
        return (
            self.select_related("agent_type__provider")
            .defer("agent_type__raw_definition")
            .with_capability_counts()
        )

    def with_capability_counts(self) -> CatalogEntryQuerySet:
        return self.annotate(**build_capability_counts("agent_type"))

    def offering(self, *kinds: str) -> CatalogEntryQuerySet:
        """Keep entries with at least one capability of any of these kinds."""
        offered = Capability.objects.filter(
            agent_type=OuterRef("agent_type"), kind__in=kinds
        )
        return self.filter(Exists(offered))

    def declaring(self, feature: str) -> CatalogEntryQuerySet:
        """Keep entries that declare a feature other than false.

        For a counted feature, keep those with at least one such capability.
        """
        for role, name in COUNT_FEATURES_BY_ROLE.items():
            if name == feature:
                return self.offering(*kinds_with_role(role))
        declared = Capability.objects.declaring_features([feature])
        return self.filter(Exists(declared.filter(agent_type=OuterRef("agent_type"))))

    def monitored(self) -> CatalogEntryQuerySet:
        """Keep entries that are probed and refreshed automatically."""
        return self.exclude(status=Status.DEPRECATED).exclude(source=Source.DEMO)

    def with_agent_type(self) -> CatalogEntryQuerySet:
        """Fetch the agent types, and defer their raw definitions."""
        return self.select_related("agent_type").defer("agent_type__raw_definition")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete the entries with every version of their agents."""
        with transaction.atomic():
            # Locked, so that two concurrent deletions do not both publish the events.
            locked = self.order_by("pk").select_for_update(of=("self",))
            removed = dict(locked.values_list("agent_key", "pk"))
            for pk in removed.values():
                publish(EntryRemoved(pk))
            return AgentType.objects.filter(agent_key__in=removed).delete()

    # As for Django's own method: not available on managers or in templates.
    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]


class CatalogEntry(models.Model):
    """An agent in the catalog: name, status, source and health."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    agent_type = models.OneToOneField(
        AgentType, on_delete=models.CASCADE, related_name="entry"
    )
    agent_key = models.CharField(max_length=64, unique=True, editable=False)
    display_name = models.CharField(max_length=300)
    description = models.TextField(max_length=20_000, blank=True, default="")
    categories = models.JSONField(blank=True, default=list)
    metadata = models.JSONField(blank=True, default=dict)
    status = models.CharField(
        max_length=20, choices=Status.choices, default=Status.UNKNOWN, db_index=True
    )
    source = models.CharField(max_length=20, choices=Source.choices)
    source_url = models.CharField(
        "source URL", max_length=2000, blank=True, default="", db_index=True
    )
    source_etag = models.CharField(
        "source ETag", max_length=500, blank=True, default="", editable=False
    )
    validity_from = models.DateTimeField(null=True, blank=True)
    validity_to = models.DateTimeField(null=True, blank=True)
    validity_last_seen = models.DateTimeField("last seen", default=timezone.now)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    last_probed_at = models.DateTimeField(null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True, default="")
    consecutive_failures = models.PositiveIntegerField(default=0)
    next_probe_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # Until when the last outcome counts for uptime, unless a newer one comes first.
    # Null without an outcome, and after a person set the status.
    outcome_counts_until = models.DateTimeField(null=True, blank=True, editable=False)
    # The health request that succeeded last, by the name that the protocol gives it.
    # Blank if not known: then the protocol's requests are tried in their usual order.
    probe_method = models.CharField(
        max_length=50, blank=True, default="", editable=False
    )
    probe_requested_at = models.DateTimeField(null=True, blank=True, editable=False)
    # When a person last set the status. Outcomes of earlier probes are ignored.
    status_set_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_refresh_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # Whether the definition was fetched with an `Authorization` header.
    authorized = models.BooleanField(default=False, editable=False)
    # Why the last import or refresh is incomplete, or why the last refresh failed.
    definition_problem = models.CharField(max_length=500, blank=True, default="")

    objects = CatalogEntryQuerySet.as_manager()

    class Meta:
        db_table = "catalog_entries"
        verbose_name_plural = "catalog entries"
        ordering = ["display_name", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=Status.values),
                name="entry_status_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(source__in=Source.values),
                name="entry_source_is_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(display_name=""), name="entry_has_a_name"
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "id"], name="entry_newest_first"),
        ]

    def __str__(self) -> str:
        return self.display_name

    def get_absolute_url(self) -> str:
        return reverse("catalog:entry_detail", args=[self.pk])

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        return type(self).objects.filter(pk=self.pk).delete()

    def parse_definition(self) -> ParseResult:
        """Parse the current definition again, with the URLs it was stored with."""
        agent_type = self.agent_type
        return try_parse(
            agent_type.definition,
            agent_type.protocol,
            agent_type.endpoint,
            self.source_url,
        )

    @property
    def can_be_probed(self) -> bool:
        """Whether the entry is monitored and the agent's health can be checked."""
        is_excluded = self.status == Status.DEPRECATED or self.source == Source.DEMO
        return not is_excluded and not self.declared

    @property
    def can_be_refreshed(self) -> bool:
        """Whether the definition can be fetched again; never true for demo agents."""
        has_url = bool(self.source_url) or is_web_url(self.agent_type.endpoint)
        return has_url and self.source != Source.DEMO

    @property
    def declared(self) -> bool:
        """Whether the agent cannot be probed and counts as active when registered."""
        agent_type = self.agent_type
        return not can_be_probed(agent_type.protocol, agent_type.endpoint)
