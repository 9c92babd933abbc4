import json

from django.contrib import admin
from django.db.models import Count
from django.template.loader import render_to_string
from django.utils.html import format_html

from capabilities.kinds import kinds

from ..models import AgentType


def pretty(agent_type: AgentType) -> str:
    """The definition as JSON is best read; as it is, where it is no JSON."""
    try:
        document = json.loads(agent_type.definition)
        text = json.dumps(document, indent=2, ensure_ascii=False)
    except ValueError:
        text = agent_type.definition.decode(errors="replace")
    return format_html('<pre class="definition">{}</pre>', text)


class ReadOnlyAdmin(admin.ModelAdmin):
    """For what only definitions may change."""

    def has_add_permission(self, request, obj=None):
        return False

    def has_change_permission(self, request, obj=None):
        return False

    def has_delete_permission(self, request, obj=None):
        return False


@admin.register(AgentType)
class AgentTypeAdmin(ReadOnlyAdmin):
    """What agents are: every version, its capabilities, its raw definition."""

    list_display = [
        "endpoint",
        "protocol",
        "version",
        "spec_version",
        "provider",
        "capability_count",
        "created_on",
    ]
    list_filter = ["protocol", "provider"]
    search_fields = ["endpoint", "version", "provider__organization"]
    date_hierarchy = "created_on"
    list_select_related = ["provider"]
    fields = [
        "protocol",
        "endpoint",
        "version",
        "spec_version",
        "provider",
        "agent_key",
        "created_on",
        "capabilities",
        "definition",
    ]

    class Media:
        css = {"all": ["catalog/admin.css"]}

    def get_queryset(self, request):
        agent_types = super().get_queryset(request)
        return agent_types.annotate(capability_count=Count("capabilities"))

    @admin.display(description="Capabilities", ordering="capability_count")
    def capability_count(self, agent_type):
        return agent_type.capability_count

    @admin.display(description="Capabilities")
    def capabilities(self, agent_type):
        return capability_table(agent_type)

    @admin.display(description="Raw definition")
    def definition(self, agent_type):
        return pretty(agent_type)


def capability_table(agent_type) -> str:
    """All an agent type can do, for reading."""
    rows = [
        {
            "kind": kind.label if (kind := kinds.get(row.kind)) else row.kind,
            "name": row.name,
            "description": row.description,
            "properties": json.dumps(row.properties, indent=2, ensure_ascii=False),
        }
        for row in agent_type.capabilities.all()
    ]
    return render_to_string("admin/catalog/_capabilities.html", {"rows": rows})
