"""Sockets and streams: who may open one, and where it leads."""

import asyncio
import io
from http import HTTPStatus
from importlib import import_module
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.settings import api_settings

from catalog.api.base import request_id_of
from catalog.events import LiveConsumer
from routing.events import RegistryConsumer, RegistryStream

from .errors import error_response
from .middleware import request_id

PLACES = {
    "/ws/catalog": LiveConsumer.as_asgi(),
    "/ws/capabilities": RegistryConsumer.as_asgi(),
}
STREAMS = {"/api/v1/registry/events": RegistryStream}


async def sockets(scope, receive, send):
    """Open the one asked for; strangers' pages and unknown places get a plain 403."""
    request = ASGIRequest({**scope, "type": "http", "method": "GET"}, io.BytesIO())
    place = PLACES.get(scope["path"])
    if place is None or foreign(request):
        await send({"type": "websocket.close"})
        return
    user = await database_sync_to_async(user_of)(request)
    await place({**scope, "user": user}, receive, send)


async def streams(scope, receive, send):
    """The same without a socket: events one after the other, over plain HTTP."""
    request = ASGIRequest(scope, io.BytesIO())
    place = STREAMS[scope["path"]]
    user = await database_sync_to_async(user_of)(request)
    may_read = await database_sync_to_async(user.has_perm)(place.permission)
    if request.method != "GET":
        await refuse(request, 405, send)
    elif foreign(request) or not may_read:
        known = user.is_authenticated or foreign(request)
        await refuse(request, 403 if known else 401, send)
    elif fault := place.fault(scope["query_string"]):
        await refuse(request, 400, send, fault)
    else:
        known = {"user": user, "request_id": request_id_of(request)}
        try:
            await place.as_asgi()({**scope, **known}, receive, send)
        except asyncio.CancelledError:
            # The server stops, and has waited for this long enough.
            await send({"type": "http.response.body", "body": b""})


async def refuse(request, status, send, message=""):
    """In the API's one error shape, with an id as every answer has."""
    response = request_id(lambda _: error_response(status, message))(request)
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response["Allow"] = "GET"
    headers = [(k.lower().encode(), v.encode()) for k, v in response.items()]
    start = {"type": "http.response.start", "status": response.status_code}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


def foreign(request) -> bool:
    """Whether another site's page asks; a program sends no Origin and is none."""
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return False
    try:
        return urlsplit(origin).netloc != request.get_host()
    except (DisallowedHost, ValueError):
        return True


def user_of(request):
    """The same as over HTTP: a token in the header, else the session's cookie."""
    sessions = import_module(settings.SESSION_ENGINE)
    cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    request.session = sessions.SessionStore(cookie)
    request.user = get_user(request)
    classes = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    try:
        return Request(request, authenticators=[known() for known in classes]).user
    except APIException:
        return AnonymousUser()
