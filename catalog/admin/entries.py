from django.contrib import admin, messages
from django.http import Http404
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import ngettext

from .. import search
from ..ingestion import curate
from ..models import CatalogEntry, Status
from .agent_types import capability_table, pretty
from .forms import EntryForm, ReasonForm
from .register import register_view


@admin.register(CatalogEntry)
class CatalogEntryAdmin(admin.ModelAdmin):
    """Catalogued agents; new ones come in by their definition, not by a form."""

    form = EntryForm
    list_display = [
        "display_name",
        "protocol",
        "status",
        "provider",
        "capability_count",
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
            "As catalogued",
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

    def get_urls(self):
        add = self.admin_site.admin_view(self.register_definition)
        return [path("add/", add, name="catalog_catalogentry_add"), *super().get_urls()]

    def register_definition(self, request):
        return register_view(self, request)

    def get_queryset(self, request):
        return super().get_queryset(request).for_display()

    def get_search_results(self, request, queryset, search_term):
        """The same search as everywhere else."""
        return search.filter_matching(
            queryset, search_term[: search.QUERY_LIMIT]
        ), False

    def save_model(self, request, entry, form, change):
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        try:
            curate(entry, changes, by=request.user)
        except CatalogEntry.DoesNotExist as error:
            raise Http404("This agent was removed meanwhile") from error

    def log_change(self, request, entry, message):
        """Curation has written the history of what it changed already."""

    @admin.display(description="Protocol", ordering="agent_type__protocol")
    def protocol(self, entry):
        return entry.agent_type.get_protocol_display()

    @admin.display(
        description="Provider", ordering="agent_type__provider__organization"
    )
    def provider(self, entry):
        return entry.agent_type.provider

    @admin.display(description="Capabilities", ordering="capability_count")
    def capability_count(self, entry):
        return entry.capability_count

    @admin.display(description="Last seen", ordering="validity_last_seen")
    def last_seen(self, entry):
        return f"{timesince(entry.validity_last_seen, depth=1)} ago"

    @admin.display(description="Agent type")
    def agent_type_link(self, entry):
        place = reverse("admin:catalog_agenttype_change", args=[entry.agent_type_id])
        return format_html('<a href="{}">{}</a>', place, entry.agent_type)

    @admin.display(description="Health")
    def health(self, entry):
        if entry.declared:
            return "Declared, not probed"
        if entry.last_probed_at is None:
            return "Not probed yet"
        latency = "" if entry.latency_ms is None else f"{entry.latency_ms} ms"
        return ", ".join(filter(None, [latency, entry.last_error])) or "Well"

    @admin.display(description="Capabilities")
    def capabilities(self, entry):
        return capability_table(entry.agent_type)

    @admin.display(description="Raw definition")
    def definition(self, entry):
        return pretty(entry.agent_type)

    @admin.action(description="Deprecate…", permissions=["change"])
    def deprecate(self, request, entries):
        return self.set_status(request, entries, Status.DEPRECATED)

    @admin.action(description="Reactivate…", permissions=["change"])
    def reactivate(self, request, entries):
        return self.set_status(request, entries, Status.ACTIVE)

    def set_status(self, request, entries, status):
        """Ask for a reason first; then do it, and keep the reason in the history."""
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if not form.is_valid():
            return self.ask_for_reason(request, entries, status, form)
        reason = form.cleaned_data["reason"]
        entries = list(entries)
        for entry in entries:
            curate(entry, {"status": status}, by=request.user, reason=reason)
        told = ngettext("%d agent is now %s.", "%d agents are now %s.", len(entries))
        messages.success(request, told % (len(entries), status.label.lower()))
        return None

    def ask_for_reason(self, request, entries, status, form):
        verb = "Deprecate" if status == Status.DEPRECATED else "Reactivate"
        context = {
            **self.admin_site.each_context(request),
            "title": f"{verb} {len(entries)} selected",
            "opts": self.opts,
            "entries": entries,
            "action": request.POST["action"],
            "verb": verb,
            "form": form,
        }
        return TemplateResponse(
            request, "admin/catalog/catalogentry/change_status.html", context
        )
