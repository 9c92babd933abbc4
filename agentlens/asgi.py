"""The served application: plain HTTP through WSGI, which Django answers fastest."""

import os

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")

wsgi = get_wsgi_application()

from catalog.events import attach_loop  # noqa: E402 - these read the settings

from .bodies import read_whole  # noqa: E402
from .lifespan import lifespan  # noqa: E402
from .sockets import STREAMS, sockets, streams  # noqa: E402

http = read_whole(WSGIMiddleware(wsgi, workers=settings.AGENTLENS_SERVER_THREADS))


async def application(scope, receive, send):
    attach_loop()
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "http" and scope["path"] in STREAMS:
        await streams(scope, receive, send)
    elif scope["type"] == "http":
        await http(scope, receive, send)
    elif scope["type"] == "websocket":
        await sockets(scope, receive, send)
