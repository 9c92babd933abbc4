"""The AG-UI AgentCapabilities of catalog entries."""

from django.core.exceptions import ValidationError
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from capabilities.documents import read_json
from capabilities.parsers import parse_unchecked
from capabilities.problems import Problems
from capabilities.protocols.agui import (
    CapabilitiesSource,
    build_agent_capabilities,
    build_capabilities_schema,
)

from ...api.base import CanReadCatalog, CatalogAPIMixin, EntryNotFound
from ...models import CatalogEntry

AGENT_CAPABILITIES_EXAMPLE = OpenApiExample(
    "MCP server",
    {
        "identity": {"name": "Notebook", "version": "2.1.0"},
        "tools": {
            "supported": True,
            "items": [{"name": "add_note", "description": "Add a note."}],
        },
    },
    response_only=True,
)


class AgentCapabilitiesView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]

    @extend_schema(
        summary="Get the features of an agent",
        responses={200: build_capabilities_schema()},
        examples=[AGENT_CAPABILITIES_EXAMPLE],
    )
    def get(self, request: Request, pk: str) -> Response:
        """Return AG-UI `AgentCapabilities` for an entry of any protocol.

        AG-UI clients can use the URL of the entry as the URL of the agent. A member
        that is absent is undeclared, not false.
        """
        entries = CatalogEntry.objects.select_related("agent_type__provider")
        try:
            entry = entries.get(pk=pk)
        except (CatalogEntry.DoesNotExist, ValidationError) as error:
            raise EntryNotFound from error
        return Response(build_agent_capabilities(build_capabilities_source(entry)))


def build_capabilities_source(entry: CatalogEntry) -> CapabilitiesSource:
    """Return what the definition of an entry contains.

    Curated fields and capability names changed by the catalog are left out.
    """
    agent_type = entry.agent_type
    if agent_type.protocol == "agui":
        return CapabilitiesSource(
            declaration=read_json(agent_type.definition, Problems())
        )
    record = parse_unchecked(
        agent_type.definition,
        agent_type.protocol,
        agent_type.endpoint,
        entry.source_url,
    )
    if record is None:
        return CapabilitiesSource()
    return CapabilitiesSource(
        name=record.name,
        description=record.description,
        version=record.version,
        provider=record.provider.organization if record.provider else "",
        capabilities=record.capabilities,
    )
