import re

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.response import Response

from .errors import InvalidParameter

OFFSET_LIMIT = 1_000_000_000


class StrictPagination(LimitOffsetPagination):
    """`limit` and `offset` as they are written, or 400; never a guess."""

    default_limit = 50
    max_limit = 200
    parameters = ("limit", "offset")

    def get_limit(self, request):
        return self.number(request, "limit", self.default_limit, 1, self.max_limit)

    def get_offset(self, request):
        return self.number(request, "offset", 0, 0, OFFSET_LIMIT)

    def number(self, request, name, default, *bounds):
        text = request.query_params.get(name) or str(default)
        low, high = bounds
        if re.fullmatch(r"[0-9]{1,10}", text) and low <= int(text) <= high:
            return int(text)
        raise InvalidParameter(
            f"{name} must be a whole number from {low} to {high}", parameter=name
        )

    def get_paginated_response(self, data):
        return Response({"total": self.count, "items": data})

    def get_paginated_response_schema(self, schema):
        return {
            "type": "object",
            "required": ["total", "items"],
            "properties": {
                "total": {
                    "type": "integer",
                    "description": "All that match.",
                    "example": 1,
                },
                "items": schema,
            },
        }
