"""A real A2A agent on loopback, written with the official SDK."""

from collections.abc import Iterator
from contextlib import contextmanager

from a2a.client import create_client
from a2a.helpers import get_stream_response_text, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Role,
    SendMessageRequest,
)
from google.protobuf.json_format import Parse
from starlette.applications import Starlette

from tests.mcp_servers import serving


class Echo(AgentExecutor):
    """Says again what was said to it."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(new_text_message(context.get_user_input()))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """There is nothing to cancel: it answers at once."""


def skill(name: str) -> AgentSkill:
    return AgentSkill(
        id=name.lower(), name=name, description=f"{name} what is said", tags=["demo"]
    )


def card(url: str) -> AgentCard:
    return AgentCard(
        name="Parrot",
        description="Says it again",
        version="3.2.1",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill("Echo"), skill("Shout")],
    )


@contextmanager
def parrot() -> Iterator[str]:
    """The agent as it is served; yields its address."""
    told = card("http://127.0.0.1/a2a")
    handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), told)
    routes = create_agent_card_routes(told) + create_jsonrpc_routes(handler, "/a2a")
    with serving(Starlette(routes=routes)) as address:
        # Only now is it known on which port it can be reached.
        told.supported_interfaces[0].url = f"{address}/a2a"
        yield address


async def said_to(definition: bytes, text: str) -> list[str]:
    """What the SDK's own client hears from the agent of this card."""
    client = await create_client(Parse(definition, AgentCard()))
    message = new_text_message(text, role=Role.ROLE_USER)
    answers = client.send_message(SendMessageRequest(message=message))
    return [get_stream_response_text(answer) async for answer in answers]
