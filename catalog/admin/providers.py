from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from ..models import Provider
from ..search import save_provider

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Provider]
else:
    ModelAdmin = admin.ModelAdmin


@admin.register(Provider)
class ProviderAdmin(ModelAdmin):
    """Organizations that run agents."""

    list_display = ["organization", "team", "url", "agent_count"]
    search_fields = ["organization", "team"]
    readonly_fields = ["created_on"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        providers = super().get_queryset(request)
        return providers.annotate(
            agent_count=Count("agent_types__entry", distinct=True)
        )

    @admin.display(description="Agents", ordering="agent_count")
    def agent_count(self, provider: Any) -> int:
        count: int = provider.agent_count
        return count

    def save_model(
        self, request: HttpRequest, obj: Provider, form: Any, change: bool
    ) -> None:
        """Save the provider and update the search index of its agents."""
        save_provider(obj)
