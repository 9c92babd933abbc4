"""Prometheus: requests by route, and what the catalog counts."""

import os
import time
from functools import cache

from django.contrib.admindocs.views import simplify_regex
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector
from rest_framework.decorators import api_view, permission_classes

from catalog.api.base import CanReadCatalog
from catalog.metrics import CatalogCollector

# Where several processes keep their counts together; `agentlens serve` sets it.
SHARED = "PROMETHEUS_MULTIPROC_DIR"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
REQUESTS = Histogram(
    "agentlens_request_seconds",
    "Requests, and how long they took, by route",
    ["method", "route", "status"],
)


def request_metrics(get_response):
    """Counts and times every request, under the pattern of its route."""

    def middleware(request):
        started = time.perf_counter()
        response = get_response(request)
        # Strangers choose paths and methods; they do not choose our labels.
        match = getattr(request, "resolver_match", None)
        route = told_route(match.route) if match else "other"
        method = request.method if request.method in METHODS else "other"
        labels = REQUESTS.labels(method, route, response.status_code)
        labels.observe(time.perf_counter() - started)
        return response

    return middleware


@cache
def told_route(pattern: str) -> str:
    """A route as people write it: `/api/v1/catalog/<pk>`."""
    return simplify_regex(pattern)


@extend_schema(exclude=True)
@api_view(["GET"])
@permission_classes([CanReadCatalog])
def metrics(request):
    """Everything in Prometheus's own format; never kept by anybody."""
    counted = REGISTRY
    if SHARED in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)
    catalog = CollectorRegistry()
    catalog.register(CatalogCollector())
    text = generate_latest(counted) + generate_latest(catalog)
    return HttpResponse(
        text, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"}
    )
