from uuid import uuid4

from django.db import models
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from capabilities.features import FEATURE
from capabilities.kinds import kind_choices, kinds
from capabilities.records import CapabilityRecord


class CapabilityQuerySet(models.QuerySet):
    def declaring_features(self, names):
        """Keep features of these names that are declared, and not as false."""
        declared = self.filter(kind=FEATURE.slug, name__in=list(names))
        return declared.exclude(properties={"value": False})

    def current_offers(self, kind, name):
        """One capability as each agent offers it now, in all statuses, by agent."""
        return (
            self.filter(kind=kind, name=name, agent_type__entry__isnull=False)
            .select_related("agent_type__entry", "agent_type__provider")
            .defer("agent_type__raw_definition")
            .order_by("agent_type__entry__text__name", "agent_type__entry")
        )


class Capability(models.Model):
    """One thing an agent type can do."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    agent_type = models.ForeignKey(
        "catalog.AgentType", on_delete=models.CASCADE, related_name="capabilities"
    )
    kind = models.CharField(max_length=100, choices=kind_choices)
    name = models.CharField(max_length=500)
    description = models.TextField(blank=True, default="")
    properties = models.JSONField(blank=True, default=dict)

    objects = CapabilityQuerySet.as_manager()

    class Meta:
        db_table = "capabilities"
        verbose_name_plural = "capabilities"
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_type", "kind", "name"],
                name="one_capability_per_kind_and_name",
            ),
            models.CheckConstraint(
                condition=~models.Q(name=""), name="capability_has_a_name"
            ),
        ]
        indexes = [models.Index(fields=["kind", "name"], name="capability_kind_name")]

    def __str__(self):
        return self.name

    @classmethod
    def from_record(cls, agent_type, record: CapabilityRecord):
        return cls(
            agent_type=agent_type,
            kind=record.kind,
            name=record.name,
            description=record.description,
            properties=record.properties,
        )

    @property
    def record(self) -> CapabilityRecord:
        """The same as its protocol's parser would read it."""
        made = kinds.get(self.kind).record_class.from_stored
        return made(self.name, self.description, self.properties)

    @property
    def templates(self) -> list[str]:
        """The part that shows it: its kind's own, else the plain one."""
        return [f"capabilities/_{self.kind}.html", "capabilities/_plain.html"]

    @property
    def discoverable(self) -> bool:
        kind = kinds.get(self.kind)
        return kind is not None and kind.discoverable


def capability_count(agent_type: str):
    """How many an agent type has, to annotate; a join would group, and lose order."""
    counts = (
        Capability.objects.filter(agent_type=OuterRef(agent_type))
        .order_by()
        .values("agent_type")
        .values(count=Count("pk"))
    )
    return Coalesce(Subquery(counts), 0)
