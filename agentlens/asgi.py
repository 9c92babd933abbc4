"""The ASGI application.

Ordinary requests go through WSGI in a thread pool, the fastest way for Django to
serve synchronous views. WebSockets and event streams stay in the event loop.
"""

import os
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    Scope,
)
from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")

wsgi = get_wsgi_application()

# These modules need the apps that `get_wsgi_application` has loaded.
from catalog.events import register_event_loop  # noqa: E402

from .lifespan import lifespan  # noqa: E402
from .request_bodies import buffer_request_body  # noqa: E402
from .sockets import EVENT_STREAMS, serve_event_stream, serve_websocket  # noqa: E402

wsgi_app: Any = WSGIMiddleware(
    cast(Any, wsgi), workers=settings.AGENTLENS_SERVER_THREADS
)
http_app: ASGI3Application = buffer_request_body(wsgi_app)


async def application(
    scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
) -> None:
    register_event_loop()
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "websocket":
        await serve_websocket(scope, receive, send)
    elif scope["path"] in EVENT_STREAMS:
        await serve_event_stream(scope, receive, send)
    else:
        await http_app(scope, receive, send)
