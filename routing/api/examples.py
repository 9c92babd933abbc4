"""Request examples for the OpenAPI schema."""

from drf_spectacular.utils import OpenApiExample

REGISTRATION = OpenApiExample(
    "Data analysis agent",
    {
        "agent_id": "0b6f3c1e-6d3c-4c43-9d0a-5b9f5f1c2a77",
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 100,
        "metadata": {
            "supported_formats": ["csv", "json", "xlsx"],
            "max_file_size": "10MB",
            "processing_time": "fast",
        },
        "health_check_url": "/api/v1/config-agents/{agent_id}/health",
    },
    request_only=True,
)
UPDATE = OpenApiExample(
    "Higher priority and new metadata",
    {"priority": 120, "metadata": {"supported_formats": ["csv", "json", "parquet"]}},
    request_only=True,
)
REPORT = OpenApiExample(
    "Two requests and the current load",
    {
        "outcomes": [{"ok": True, "response_time_ms": 120}, {"ok": False}],
        "concurrent_requests": 3,
        "queue_depth": 0,
        "load_score": 0.3,
    },
    request_only=True,
)
