"""Parameters of registry operations in the OpenAPI schema."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from ..decisions import DEFAULT_STRATEGY
from ..strategies import STRATEGIES

REGISTRATION_ID = OpenApiParameter(
    "key", str, "path", description="ID of a registration: `cap-reg-...`."
)
CAPABILITY = OpenApiParameter("key", str, "path", description="Name of the capability.")


def boolean_parameter(
    name: str, description: str, default: bool = False
) -> OpenApiParameter:
    return OpenApiParameter(name, bool, description=description, default=default)


def string_parameter(name: str, description: str, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, str, description=description, **options)


STRATEGY = string_parameter(
    "routing_strategy",
    "How to order the providers.",
    enum=list(STRATEGIES),
    default=DEFAULT_STRATEGY,
)
