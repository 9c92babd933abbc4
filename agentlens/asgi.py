"""The served application: plain HTTP through WSGI, which Django answers fastest."""

import os

from a2wsgi import WSGIMiddleware
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")

application = WSGIMiddleware(get_wsgi_application())
