"""WebSockets and server-sent events: authentication and dispatch by path."""

import asyncio
import io
from http import HTTPStatus
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from asgiref.typing import (
    ASGIReceiveCallable,
    ASGISendCallable,
    HTTPScope,
    WebSocketScope,
)
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.settings import api_settings

from catalog.api.base import get_request_id
from catalog.events import LiveConsumer
from routing.events import RegistryConsumer, RegistryStream

from .errors import build_error_response
from .middleware import request_id_middleware

WEBSOCKET_CONSUMERS = {
    "/ws/catalog": LiveConsumer.as_asgi(),
    "/ws/capabilities": RegistryConsumer.as_asgi(),
}
EVENT_STREAMS = {"/api/v1/registry/events": RegistryStream}


async def serve_websocket(
    scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable
) -> None:
    """Pass a WebSocket to its consumer.

    Cross-origin requests and unknown paths are closed, which a client sees as 403.
    """
    request = ASGIRequest({**scope, "type": "http", "method": "GET"}, io.BytesIO())
    consumer = WEBSOCKET_CONSUMERS.get(scope["path"])
    if consumer is None or is_cross_origin(request):
        await send({"type": "websocket.close", "code": 1000, "reason": ""})
        return
    user = await database_sync_to_async(authenticate_user)(request)
    await consumer({**scope, "user": user}, receive, send)


async def serve_event_stream(
    scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
) -> None:
    """Serve server-sent events, or an error if the request may not read them."""
    request = ASGIRequest(scope, io.BytesIO())
    stream_class = EVENT_STREAMS[scope["path"]]
    user = await database_sync_to_async(authenticate_user)(request)
    can_read = await database_sync_to_async(user.has_perm)(stream_class.permission)
    if request.method != "GET":
        await send_error(request, HTTPStatus.METHOD_NOT_ALLOWED, send)
    elif is_cross_origin(request):
        await send_error(request, HTTPStatus.FORBIDDEN, send)
    elif not can_read:
        status = HTTPStatus.UNAUTHORIZED
        if user.is_authenticated:
            status = HTTPStatus.FORBIDDEN
        await send_error(request, status, send)
    elif query_error := stream_class.find_query_error(scope["query_string"]):
        await send_error(request, HTTPStatus.BAD_REQUEST, send, query_error)
    else:
        extra = {"user": user, "request_id": get_request_id(request)}
        try:
            await stream_class.as_asgi()({**scope, **extra}, receive, send)
        except asyncio.CancelledError:
            # The server shuts down and cancels open streams after its grace period.
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_error(
    request: ASGIRequest, status: int, send: ASGISendCallable, message: str = ""
) -> None:
    """Send an API error with an X-Request-ID header."""
    handler = request_id_middleware(lambda _: build_error_response(status, message))
    response = handler(request)
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response["Allow"] = "GET"
    await send(
        {
            "type": "http.response.start",
            "status": response.status_code,
            "headers": [(k.lower().encode(), v.encode()) for k, v in response.items()],
            "trailers": False,
        }
    )
    await send(
        {"type": "http.response.body", "body": response.content, "more_body": False}
    )


def is_cross_origin(request: HttpRequest) -> bool:
    """Return whether a page of another site sent the request.

    Programs send no Origin header and are not cross-origin.
    """
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return False
    try:
        return urlsplit(origin).netloc != request.get_host()
    except (DisallowedHost, ValueError):
        return True


def authenticate_user(request: HttpRequest) -> User | AnonymousUser:
    """Authenticate as DRF does: by Authorization header, else by session cookie."""
    sessions = import_module(settings.SESSION_ENGINE)
    session_key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    request.session = sessions.SessionStore(session_key)
    request.user = get_user(request)
    classes: Any = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    authenticators = [authentication_class() for authentication_class in classes]
    try:
        return Request(request, authenticators=authenticators).user
    except APIException:
        return AnonymousUser()
