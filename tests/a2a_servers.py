"""A real A2A agent on loopback, written with the official SDK."""

from collections.abc import Iterator
from contextlib import contextmanager

from a2a.client import create_client
from a2a.helpers import get_stream_response_text, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
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
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.mcp_servers import run_app

TOKEN = "Bearer sesame"


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


@contextmanager
def run_agent_with_extended_card(
    binding: str = "JSONRPC", version: str = "1.0"
) -> Iterator[str]:
    """Run an agent whose extended card needs the token `sesame`; yield its base URL."""
    card = build_card("http://127.0.0.1/a2a")
    card.capabilities.extended_agent_card = True
    card.supported_interfaces[0].protocol_binding = binding
    card.supported_interfaces[0].protocol_version = version
    extended_card = AgentCard()
    extended_card.CopyFrom(card)
    extended_card.skills.append(build_skill("Whisper"))
    handler = DefaultRequestHandler(
        EchoExecutor(), InMemoryTaskStore(), card, extended_agent_card=extended_card
    )
    routes = create_agent_card_routes(card)
    routes += create_jsonrpc_routes(handler, "/a2a", enable_v0_3_compat=True)
    routes += create_rest_routes(handler, path_prefix="/a2a", enable_v0_3_compat=True)
    application = require_token(Starlette(routes=routes))
    with run_app(application) as base_url:
        for served_card in (card, extended_card):
            served_card.supported_interfaces[0].url = f"{base_url}/a2a"
        yield base_url


def require_token(application: Starlette) -> ASGIApp:
    """Return an application that answers 401 below `/a2a` without the token."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        is_guarded = scope.get("path", "").startswith("/a2a")
        if is_guarded and Headers(scope=scope).get("Authorization") != TOKEN:
            await Response(status_code=401)(scope, receive, send)
        else:
            await application(scope, receive, send)

    return guarded


async def send_message(definition: bytes, text: str) -> list[str]:
    """Send a text to the agent of this card by the SDK's client; return its texts."""
    client = await create_client(Parse(definition, AgentCard()))
    message = new_text_message(text, role=Role.ROLE_USER)
    responses = client.send_message(SendMessageRequest(message=message))
    return [get_stream_response_text(response) async for response in responses]
