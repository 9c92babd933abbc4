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

from tests.mcp_servers import run_app


class EchoExecutor(AgentExecutor):
    """An executor that responds with the user's text."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(new_text_message(context.get_user_input()))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do nothing, because there is never a running task."""


def build_skill(name: str) -> AgentSkill:
    return AgentSkill(
        id=name.lower(), name=name, description=f"{name} the text", tags=["demo"]
    )


def build_card(url: str) -> AgentCard:
    return AgentCard(
        name="Parrot",
        description="Repeats the text",
        version="3.2.1",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[build_skill("Echo"), build_skill("Shout")],
    )


@contextmanager
def run_echo_agent() -> Iterator[str]:
    """Run the agent on a free port; yield its base URL."""
    card = build_card("http://127.0.0.1/a2a")
    handler = DefaultRequestHandler(EchoExecutor(), InMemoryTaskStore(), card)
    routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/a2a")
    with run_app(Starlette(routes=routes)) as base_url:
        # The port is known only now.
        card.supported_interfaces[0].url = f"{base_url}/a2a"
        yield base_url


async def send_message(definition: bytes, text: str) -> list[str]:
    """Send a text to the agent of this card by the SDK's client; return its texts."""
    client = await create_client(Parse(definition, AgentCard()))
    message = new_text_message(text, role=Role.ROLE_USER)
    responses = client.send_message(SendMessageRequest(message=message))
    return [get_stream_response_text(response) async for response in responses]
