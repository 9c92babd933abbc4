import json
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html

from capabilities.kinds import kinds

from ..models import AgentType, AgentTypeQuerySet

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[AgentType]
else:
    ModelAdmin = admin.ModelAdmin


@admin.register(AgentType)
class AgentTypeAdmin(ModelAdmin):
    """Read-only pages of agent types, which change only through definitions."""

    list_display = [
        "endpoint",
        "protocol",
        "version",
        "spec_version",
        "provider",
        "capability_count",
        "technical_count",
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: AgentType | None = None
    ) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: AgentType | None = None
    ) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentType]:
        agent_types = cast(AgentTypeQuerySet, super().get_queryset(request))
        return agent_types.with_capability_counts()

    @admin.display(description="Capabilities", ordering="capability_count")
    def capability_count(self, agent_type: Any) -> int:
        count: int = agent_type.capability_count
        return count

    @admin.display(description="Technical details", ordering="technical_count")
    def technical_count(self, agent_type: Any) -> int:
        count: int = agent_type.technical_count
        return count

    @admin.display(description="Capabilities")
    def capabilities(self, agent_type: AgentType) -> str:
        return render_capabilities(agent_type)

    @admin.display(description="Raw definition")
    def definition(self, agent_type: AgentType) -> str:
        return render_definition(agent_type)


def render_definition(agent_type: AgentType) -> str:
    """Return the definition as HTML; JSON is indented, other formats are unchanged."""
    try:
        document = json.loads(agent_type.definition)
        text = json.dumps(document, indent=2, ensure_ascii=False)
    except ValueError:
        text = agent_type.definition.decode(errors="replace")
    return format_html('<pre class="definition">{}</pre>', text)


def render_capabilities(agent_type: AgentType) -> str:
    """Return a table of all capabilities of an agent type as HTML."""
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
