from uuid import uuid4

from django.db import models, transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from capabilities.features import COUNTED_FEATURES
from capabilities.kinds import kinds_with_role
from capabilities.parsers import can_be_probed
from capabilities.records import is_web_url

from ..events import EntryRemoved, publish
from .agent_type import AgentType
from .capability import Capability, capability_count


class Status(models.TextChoices):
    UNKNOWN = "unknown", "Unknown"
    ACTIVE = "active", "Active"
    DEGRADED = "degraded", "Degraded"
    OFFLINE = "offline", "Offline"
    DEPRECATED = "deprecated", "Deprecated"


# Those an index of reachable agents shows.
REACHABLE_STATUSES = (Status.ACTIVE, Status.DEGRADED)


class Source(models.TextChoices):
    PUSH = "push", "Registered"
    IMPORT = "import", "Imported"
    CONFIG = "config", "Configuration"
    UPSTREAM = "upstream", "Upstream registry"
    DEMO = "demo", "Demo"


class CatalogEntryQuerySet(models.QuerySet):
    def for_display(self):
        """With all that a list shows of an entry, and without its raw definition."""
        return (
            self.select_related("agent_type__provider")
            .defer("agent_type__raw_definition")
            .with_capability_count()
        )

    def with_capability_count(self):
        return self.annotate(capability_count=capability_count("agent_type"))

    def offering(self, *kinds):
        """Keep entries with at least one capability of any of these kinds."""
        offered = Capability.objects.filter(
            agent_type=OuterRef("agent_type"), kind__in=kinds
        )
        return self.filter(Exists(offered))

    def declaring(self, feature):
        """Keep entries that declare a feature, and not as false; or have any of it."""
        if counted := [
            role for role, name in COUNTED_FEATURES.items() if name == feature
        ]:
            return self.offering(*kinds_with_role(*counted))
        declared = Capability.objects.declaring_features([feature])
        return self.filter(Exists(declared.filter(agent_type=OuterRef("agent_type"))))

    def monitored(self) -> "CatalogEntryQuerySet":
        """Keep entries that may be asked and changed without anybody's doing."""
        return self.exclude(status=Status.DEPRECATED).exclude(source=Source.DEMO)

    def with_agent_type(self) -> "CatalogEntryQuerySet":
        """With where each is, and without its definition."""
        return self.select_related("agent_type").defer("agent_type__raw_definition")

    def delete(self) -> tuple[int, dict[str, int]]:
        """An entry goes with every version of its agent."""
        with transaction.atomic():
            # Held: whoever comes second finds nothing, and tells nothing.
            held = self.order_by("pk").select_for_update(of=("self",))
            removed = dict(held.values_list("agent_key", "pk"))
            for pk in removed.values():
                publish(EntryRemoved(pk))
            return AgentType.objects.filter(agent_key__in=removed).delete()

    delete.alters_data = True
    delete.queryset_only = True


class CatalogEntry(models.Model):
    """How an agent is catalogued; what it is, is its agent type."""

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
    # When somebody last wanted it probed at once.
    asked_at = models.DateTimeField(null=True, blank=True, editable=False)
    # When a person last said how it is: what was seen before that is no news.
    status_set_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_refresh_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # Whether its definition was told to one who showed an `Authorization`.
    authorized = models.BooleanField(default=False, editable=False)
    # Why its definition could not be read, or not wholly, when last looked at.
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

    def __str__(self):
        return self.display_name

    def get_absolute_url(self):
        return reverse("catalog:entry_detail", args=[self.pk])

    def delete(self, *args, **kwargs):
        return type(self).objects.filter(pk=self.pk).delete()

    @property
    def can_be_probed(self) -> bool:
        """Whether it has an address, and nobody wants it left alone."""
        left_alone = self.status == Status.DEPRECATED or self.source == Source.DEMO
        return not left_alone and not self.declared

    @property
    def can_be_refreshed(self) -> bool:
        """Whether its definition is published somewhere that we know."""
        somewhere = bool(self.source_url) or is_web_url(self.agent_type.endpoint)
        return somewhere and self.source != Source.DEMO

    @property
    def declared(self) -> bool:
        """Active by its own word: there is no address to probe."""
        agent_type = self.agent_type
        return not can_be_probed(agent_type.protocol, agent_type.endpoint)
