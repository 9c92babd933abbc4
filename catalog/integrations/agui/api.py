"""AG-UI's question to any agent of the catalog: what do you support?"""

from django.core.exceptions import ValidationError
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from capabilities.documents import read_json
from capabilities.parsers import stated
from capabilities.problems import Problems
from capabilities.protocols.agui import Facts, capabilities_schema, take_snapshot

from ...api.base import CanReadCatalog, CatalogAPIMixin, EntryNotFound
from ...models import CatalogEntry

SNAPSHOT = OpenApiExample(
    "Of an MCP server",
    {
        "identity": {"name": "Notebook", "version": "2.1.0"},
        "tools": {
            "supported": True,
            "items": [{"name": "add_note", "description": "Add a note."}],
        },
    },
    response_only=True,
)


class SnapshotView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]

    @extend_schema(
        summary="Read what an agent supports",
        responses={200: capabilities_schema()},
        examples=[SNAPSHOT],
    )
    def get(self, request, pk):
        """AG-UI's `AgentCapabilities`, for an entry of any protocol.

        An AG-UI client pointed at the entry's own address reads it. What the
        definition does not say is absent: unknown, never false.
        """
        entries = CatalogEntry.objects.select_related("agent_type__provider")
        try:
            entry = entries.get(pk=pk)
        except (CatalogEntry.DoesNotExist, ValidationError) as error:
            raise EntryNotFound from error
        return Response(take_snapshot(facts_of(entry)))


def facts_of(entry: CatalogEntry) -> Facts:
    """An agent of AG-UI's speaks for itself; of others we tell what we read.

    Not what a curator calls it, nor under which name a second of the same is kept.
    """
    agent_type = entry.agent_type
    if agent_type.protocol == "agui":
        return Facts(native=read_json(agent_type.definition, Problems()))
    told = stated(agent_type.definition, agent_type.protocol, agent_type.endpoint)
    if told is None:
        return Facts()
    return Facts(
        name=told.name,
        description=told.description,
        version=told.version,
        provider=told.provider.organization if told.provider else "",
        capabilities=told.capabilities,
    )
