from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import uuid4

from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from capabilities.features import FEATURE_KIND
from capabilities.kinds import discoverable_kinds, kind_choices, kinds
from capabilities.records import CapabilityRecord

if TYPE_CHECKING:
    from .agent_type import AgentType


class CapabilityQuerySet(models.QuerySet["Capability"]):
    def declaring_features(self, names: Iterable[str]) -> CapabilityQuerySet:
        """Keep features with these names that are not declared as false."""
        declared = self.filter(kind=FEATURE_KIND.slug, name__in=list(names))
        return declared.exclude(properties={"value": False})

    def in_use(self) -> CapabilityQuerySet:
        """Keep capabilities of the current versions of agents."""
        return self.filter(agent_type__entry__isnull=False)

    def current_offers(self, kind: str, name: str) -> CapabilityQuerySet:
        """Return a capability of each agent that offers it in its current version.

        Agents of every status are included. The order is by agent name.
        """
        return (
            self.in_use()
            .filter(kind=kind, name=name)
            .select_related("agent_type__entry", "agent_type__provider")
            .defer("agent_type__raw_definition")
            .order_by("agent_type__entry__text__name", "agent_type__entry")
        )


class Capability(models.Model):
    """A capability of an agent type."""

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

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_record(cls, agent_type: AgentType, record: CapabilityRecord) -> Capability:
        return cls(
            agent_type=agent_type,
            kind=record.kind,
            name=record.name,
            description=record.description,
            properties=record.properties,
        )

    @property
    def record(self) -> CapabilityRecord:
        """The capability as the parser of its protocol returns it."""
        kind = kinds.get(self.kind)
        record_class = kind.record_class if kind else CapabilityRecord
        return record_class.from_stored(self.name, self.description, self.properties)

    @property
    def templates(self) -> list[str]:
        """The templates to try: that of the kind, then the one for all kinds."""
        return [f"capabilities/_{self.kind}.html", "capabilities/_plain.html"]

    @property
    def discoverable(self) -> bool:
        kind = kinds.get(self.kind)
        return kind is not None and kind.discoverable


def build_capability_counts(agent_type: str) -> dict[str, Coalesce]:
    """Return expressions that count the capabilities of an agent type.

    `capability_count` counts the discoverable ones, `technical_count` the others.
    """
    capabilities = Capability.objects.filter(agent_type=OuterRef(agent_type))
    is_discoverable = Q(kind__in=discoverable_kinds())
    return {
        "capability_count": build_count(capabilities.filter(is_discoverable)),
        "technical_count": build_count(capabilities.exclude(is_discoverable)),
    }


def build_count(capabilities: CapabilityQuerySet) -> Coalesce:
    """Return a subquery that counts capabilities of one agent type.

    A join would group the rows and lose their order.
    """
    counts = capabilities.order_by().values("agent_type").values(count=Count("pk"))
    return Coalesce(Subquery(counts), 0)
