"""Prometheus metrics: request durations by route, and the metrics of the catalog."""

import os
import time
from collections.abc import Callable
from functools import cache

from django.contrib.admindocs.views import simplify_regex
from django.http import HttpRequest, HttpResponse
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
from rest_framework.request import Request

from catalog.api.base import CanReadCatalog
from catalog.metrics import CatalogCollector

# The directory in which several processes share their metrics, set by `serve`.
SHARED_DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
HTTP_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
REQUEST_SECONDS = Histogram(
    "agentlens_request_seconds",
    "Request duration in seconds, by method, route and status.",
    ["method", "route", "status"],
)


def request_metrics_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Record the duration of every request under its route pattern."""

    def middleware(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = get_response(request)
        # Clients can send any path and method; as labels they would be unbounded.
        match = getattr(request, "resolver_match", None)
        route = format_route(match.route) if match else "other"
        method = request.method if request.method in HTTP_METHODS else "other"
        series = REQUEST_SECONDS.labels(method, route, response.status_code)
        series.observe(time.perf_counter() - started)
        return response

    return middleware


@cache
def format_route(pattern: str) -> str:
    """Return the route pattern without regular expressions: `/api/v1/catalog/<pk>`."""
    return simplify_regex(pattern)


@extend_schema(exclude=True)
@api_view(["GET"])
@permission_classes([CanReadCatalog])
def metrics(request: Request) -> HttpResponse:
    """Serve all metrics in the Prometheus text format."""
    process_registry = REGISTRY
    if SHARED_DIRECTORY_VARIABLE in os.environ:
        process_registry = CollectorRegistry()
        MultiProcessCollector(  # type: ignore[no-untyped-call]  # has no type hints
            process_registry
        )
    catalog_registry = CollectorRegistry()
    catalog_registry.register(CatalogCollector())
    text = generate_latest(process_registry) + generate_latest(catalog_registry)
    return HttpResponse(
        text, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"}
    )
