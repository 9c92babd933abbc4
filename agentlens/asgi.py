"""The served application: plain HTTP through WSGI, which Django answers fastest."""

import os

from a2wsgi import WSGIMiddleware
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")

wsgi = get_wsgi_application()

from .bodies import read_whole  # noqa: E402 - its limit is in the settings

application = read_whole(WSGIMiddleware(wsgi, workers=16))
