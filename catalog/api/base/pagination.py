import re
from typing import Any

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from .errors import InvalidParameter

MAX_OFFSET = 1_000_000_000


class StrictPagination(LimitOffsetPagination):
    """Limit/offset pagination that rejects an invalid value with 400."""

    default_limit: int = 50
    max_limit: int = 200
    limit_query_description = "Maximum number of items to return: 1 to 200."
    offset_query_description = "Number of items to skip."
    # Names of the query parameters, for `parameters_by_action` of views.
    parameters = ("limit", "offset")

    def get_limit(self, request: Request) -> int:
        return self.parse_integer(
            request, "limit", default=self.default_limit, low=1, high=self.max_limit
        )

    def get_offset(self, request: Request) -> int:
        return self.parse_integer(request, "offset", default=0, low=0, high=MAX_OFFSET)

    def parse_integer(
        self, request: Request, name: str, *, default: int, low: int, high: int
    ) -> int:
        text = request.query_params.get(name) or str(default)
        if re.fullmatch(r"[0-9]{1,10}", text) and low <= int(text) <= high:
            return int(text)
        raise InvalidParameter(
            f"{name} must be an integer from {low} to {high}", parameter=name
        )

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"total": self.count, "items": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["total", "items"],
            "properties": {
                "total": {
                    "type": "integer",
                    "description": "Number of matching items on all pages.",
                    "example": 1,
                },
                "items": schema,
            },
        }
