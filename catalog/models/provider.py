from __future__ import annotations

from uuid import uuid4

from django.db import models

from capabilities.records import ProviderRecord


class ProviderQuerySet(models.QuerySet["Provider"]):
    def upsert(self, record: ProviderRecord | None) -> Provider | None:
        """Return the provider, created if necessary.

        A definition can add a URL to a provider, but never change one.
        """
        if record is None:
            return None
        provider, _ = self.get_or_create(
            organization=record.organization,
            team=record.team,
            defaults={"url": record.url},
        )
        if record.url and not provider.url:
            provider.url = record.url
            provider.save(update_fields=["url"])
        return provider


class Provider(models.Model):
    """An organization, or a team in one, that runs agents."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    organization = models.CharField(max_length=300)
    team = models.CharField(max_length=300, blank=True, default="")
    url = models.CharField("URL", max_length=2000, blank=True, default="")
    created_on = models.DateTimeField(auto_now_add=True)

    objects = ProviderQuerySet.as_manager()

    class Meta:
        db_table = "providers"
        ordering = ["organization", "team"]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "team"], name="one_provider_per_team"
            ),
            models.CheckConstraint(
                condition=~models.Q(organization=""), name="provider_has_a_name"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.organization} / {self.team}" if self.team else self.organization
