from django.contrib import admin
from django.db.models import Count

from ..models import Provider
from ..search import save_provider


@admin.register(Provider)
class ProviderAdmin(admin.ModelAdmin):
    """Organisations, shared by all their agents."""

    list_display = ["organization", "team", "url", "agent_count"]
    search_fields = ["organization", "team"]
    readonly_fields = ["created_on"]

    def get_queryset(self, request):
        providers = super().get_queryset(request)
        return providers.annotate(
            agent_count=Count("agent_types__entry", distinct=True)
        )

    @admin.display(description="Agents", ordering="agent_count")
    def agent_count(self, provider):
        return provider.agent_count

    def save_model(self, request, provider, form, change):
        """Its agents are found under its new name at once."""
        save_provider(provider)
