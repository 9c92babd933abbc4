from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from uuid import uuid4

from django.db import models
from django.db.models import Prefetch

from capabilities.parsers import protocol_choices

from .capability import build_capability_counts

if TYPE_CHECKING:
    from .catalog_entry import CatalogEntry


def compute_agent_key(protocol: str, endpoint: str) -> str:
    """Return the key that all versions of one agent have in common."""
    return hashlib.sha256(f"{protocol}{endpoint}".encode()).hexdigest()


class AgentTypeQuerySet(models.QuerySet["AgentType"]):
    def versions_for(self, entry: CatalogEntry) -> AgentTypeQuerySet:
        """Return the versions of an entry's agent with their changes, newest first."""
        changes = entry.changes.defer("replaced_definition")
        versions = self.filter(agent_key=entry.agent_key)
        versions = versions.prefetch_related(Prefetch("changes", queryset=changes))
        return versions.with_capability_counts()

    def with_capability_counts(self) -> AgentTypeQuerySet:
        return self.annotate(**build_capability_counts("pk"))


class AgentType(models.Model):
    """One version of an agent: its definition and what was read from it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    agent_key = models.CharField(max_length=64, editable=False)
    protocol = models.CharField(max_length=50, choices=protocol_choices)
    endpoint = models.CharField(max_length=2000)
    version = models.CharField(max_length=255, blank=True, default="")
    spec_version = models.CharField(max_length=255, blank=True, default="")
    provider = models.ForeignKey(
        "catalog.Provider",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="agent_types",
    )
    raw_definition = models.BinaryField()
    created_on = models.DateTimeField(auto_now_add=True)

    objects = AgentTypeQuerySet.as_manager()

    class Meta:
        db_table = "agent_types"
        ordering = ["-created_on", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_key", "version"], name="one_agent_type_per_version"
            ),
            models.CheckConstraint(
                condition=~models.Q(endpoint=""), name="agent_type_has_an_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.version}".strip()

    @property
    def definition(self) -> bytes:
        """The exact bytes received; some database drivers return a memoryview."""
        return bytes(self.raw_definition)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.definition).hexdigest()
