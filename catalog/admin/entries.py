from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import ngettext

from .. import search
from ..health import format_time_ago
from ..ingestion import curate
from ..models import CatalogEntry, CatalogEntryQuerySet, Provider, Status
from .agent_types import render_capabilities, render_definition
from .forms import EntryForm, ReasonForm
from .register import register_view

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[CatalogEntry]
else:
    ModelAdmin = admin.ModelAdmin


@admin.register(CatalogEntry)
class CatalogEntryAdmin(ModelAdmin):
    """Catalog entries; new ones are registered from a definition."""

    form = EntryForm
    list_display = [
        "display_name",
        "protocol",
        "status",
        "provider",
        "capability_count",
        "technical_count",
        "last_seen",
    ]
    list_filter = [
        "status",
        "agent_type__protocol",
        "source",
        ("agent_type__provider", admin.RelatedOnlyFieldListFilter),
    ]
    search_fields = ["display_name"]
    search_help_text = "Name, description, endpoint, category, provider or capability"
    date_hierarchy = "created_at"
    list_per_page = 50
    actions = ["deprecate", "reactivate"]
    readonly_fields = [
        "status",
        "source",
        "source_url",
        "definition_problem",
        "agent_type_link",
        "health",
        "validity_last_seen",
        "created_at",
        "updated_at",
        "capabilities",
        "definition",
    ]
    fieldsets = [
        (None, {"fields": ["display_name", "description", "categories", "metadata"]}),
        ("Validity", {"fields": ["validity_from", "validity_to"]}),
        (
            "Catalog data",
            {
                "fields": [
                    "status",
                    "health",
                    "source",
                    "source_url",
                    "definition_problem",
                    "agent_type_link",
                    "validity_last_seen",
                    "created_at",
                    "updated_at",
                ]
            },
        ),
        ("Capabilities", {"fields": ["capabilities"]}),
        ("Raw definition", {"fields": ["definition"]}),
    ]

    class Media:
        css = {"all": ["catalog/admin.css"]}

    def get_urls(self) -> list[URLPattern]:
        add = self.admin_site.admin_view(self.register_definition)
        return [path("add/", add, name="catalog_catalogentry_add"), *super().get_urls()]

    def register_definition(self, request: HttpRequest) -> HttpResponse:
        return register_view(self, request)

    def get_queryset(self, request: HttpRequest) -> CatalogEntryQuerySet:
        entries = cast(CatalogEntryQuerySet, super().get_queryset(request))
        return entries.for_display()

    def get_search_results(
        self,
        request: HttpRequest,
        queryset: QuerySet[CatalogEntry],
        search_term: str,
    ) -> tuple[QuerySet[CatalogEntry], bool]:
        """Search as the catalog pages and the API do."""
        query = search_term[: search.QUERY_LIMIT]
        entries = cast(CatalogEntryQuerySet, queryset)
        return search.filter_matching(entries, query), False

    def save_model(
        self, request: HttpRequest, obj: CatalogEntry, form: Any, change: bool
    ) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        try:
            curate(obj, changes, by=cast(User, request.user))
        except CatalogEntry.DoesNotExist as error:
            raise Http404("This agent was deleted in the meantime.") from error

    def log_change(self, request: HttpRequest, obj: CatalogEntry, message: Any) -> Any:
        """Log nothing: `curate` has already logged the changes."""

    @admin.display(description="Protocol", ordering="agent_type__protocol")
    def protocol(self, entry: CatalogEntry) -> str:
        return entry.agent_type.get_protocol_display()

    @admin.display(
        description="Provider", ordering="agent_type__provider__organization"
    )
    def provider(self, entry: CatalogEntry) -> Provider | None:
        return entry.agent_type.provider

    @admin.display(description="Capabilities", ordering="capability_count")
    def capability_count(self, entry: Any) -> int:
        count: int = entry.capability_count
        return count

    @admin.display(description="Technical details", ordering="technical_count")
    def technical_count(self, entry: Any) -> int:
        count: int = entry.technical_count
        return count

    @admin.display(description="Last seen", ordering="validity_last_seen")
    def last_seen(self, entry: CatalogEntry) -> str:
        return format_time_ago(entry.validity_last_seen)

    @admin.display(description="Agent type")
    def agent_type_link(self, entry: CatalogEntry) -> str:
        url = reverse("admin:catalog_agenttype_change", args=[entry.agent_type_id])
        return format_html('<a href="{}">{}</a>', url, entry.agent_type)

    @admin.display(description="Health")
    def health(self, entry: CatalogEntry) -> str:
        if entry.declared:
            return "Declared, not probed"
        if entry.last_probed_at is None:
            return "Not probed yet"
        latency = "" if entry.latency_ms is None else f"{entry.latency_ms} ms"
        return ", ".join(filter(None, [latency, entry.last_error])) or "OK"

    @admin.display(description="Capabilities")
    def capabilities(self, entry: CatalogEntry) -> str:
        return render_capabilities(entry.agent_type)

    @admin.display(description="Raw definition")
    def definition(self, entry: CatalogEntry) -> str:
        return render_definition(entry.agent_type)

    @admin.action(description="Deprecate…", permissions=["change"])
    def deprecate(
        self, request: HttpRequest, entries: QuerySet[CatalogEntry]
    ) -> HttpResponse | None:
        return self.set_status(request, entries, Status.DEPRECATED)

    @admin.action(description="Reactivate…", permissions=["change"])
    def reactivate(
        self, request: HttpRequest, entries: QuerySet[CatalogEntry]
    ) -> HttpResponse | None:
        return self.set_status(request, entries, Status.ACTIVE)

    def set_status(
        self, request: HttpRequest, queryset: QuerySet[CatalogEntry], status: Status
    ) -> HttpResponse | None:
        """Show a form for the reason; once it is submitted, set the status."""
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        entries = list(queryset)
        if not form.is_valid():
            return self.render_reason_form(request, entries, status, form)
        reason = form.cleaned_data["reason"]
        for entry in entries:
            changes = {"status": status}
            curate(entry, changes, by=cast(User, request.user), reason=reason)
        message = ngettext("%d agent is now %s.", "%d agents are now %s.", len(entries))
        messages.success(request, message % (len(entries), status.label.lower()))
        return None

    def render_reason_form(
        self,
        request: HttpRequest,
        entries: list[CatalogEntry],
        status: Status,
        form: ReasonForm,
    ) -> TemplateResponse:
        verb = "Deprecate" if status == Status.DEPRECATED else "Reactivate"
        context = {
            **self.admin_site.each_context(request),
            "title": f"{verb} agents ({len(entries)})",
            "opts": self.opts,
            "entries": entries,
            "action": request.POST["action"],
            "verb": verb,
            "form": form,
        }
        return TemplateResponse(
            request, "admin/catalog/catalogentry/change_status.html", context
        )
