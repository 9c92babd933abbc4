"""The examples of the specification of the registry, member by member.

Responses have more members than the examples: `ADDITIONAL_MEMBERS`, all of
`PERFORMANCE_METRICS`, and `code` next to errors.
"""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from catalog.health import status as health
from catalog.models import Status
from routing.models import RequestSecond
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success
from tests.routing.api.requests import REGISTRY_URL
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

ADDITIONAL_MEMBERS = {
    "updated_at",
    "last_updated",
    "registered_at",
    "last_health_check",
}
ADDITIONAL_MEMBERS |= {"health_check_url"}
PERFORMANCE_METRICS = [
    "response_time_avg",
    "response_time_p95",
    "response_time_p99",
    "load_score",
    "concurrent_requests",
    "requests_per_minute",
    "queue_depth",
    "success_rate",
    "error_rate",
    "consecutive_failures",
    "uptime_percentage",
    "requests_last_hour",
]
METADATA = {
    "supported_formats": ["csv", "json", "xlsx"],
    "max_file_size": "10MB",
    "processing_time": "fast",
}
LAST_CHECK = datetime(2025, 9, 10, 15, 30, tzinfo=UTC)
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def create_provider(agent_name: str, capability: str = "data-analysis", **members):
    return RegistrationFactory(
        entry__display_name=agent_name, capability=capability, **members
    )


def send_report(
    client, registration, successes: int, failures: int, response_time_ms: int, **gauges
):
    outcomes = [
        {"ok": n < successes, "response_time_ms": response_time_ms}
        for n in range(successes + failures)
    ]
    url = f"{REGISTRY_URL}/{registration.pk}/reports"
    response = client.post(url, {"outcomes": outcomes} | gauges, format="json")
    assert response.status_code == 204


def remove_members(members: dict, *names: str) -> dict:
    return {name: value for name, value in members.items() if name not in names}


def test_registration_returns_documented_response(editor_api):
    entry = CatalogEntryFactory(display_name="DataAnalyzer")
    payload = {
        "agent_id": str(entry.pk),
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 100,
        "metadata": METADATA,
        "health_check_url": "/api/v1/config-agents/{agent_id}/health",
    }
    response = editor_api.post(REGISTRY_URL, payload, format="json")
    body = response.json()

    assert response.status_code == 201
    assert remove_members(body, *ADDITIONAL_MEMBERS) == {
        "registration_id": body["registration_id"],
        "agent_id": str(entry.pk),
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 100,
        "status": "active",
        "metadata": METADATA,
    }
    assert set(body) > ADDITIONAL_MEMBERS
    assert re.fullmatch(r"cap-reg-[0-9a-f]+", body["registration_id"])
    assert TIMESTAMP.fullmatch(body["registered_at"])
    assert body["registered_at"] == body["updated_at"] == body["last_updated"]
    assert body["last_health_check"] is None
    assert body["health_check_url"] == payload["health_check_url"]


def test_external_agent_registration_returns_documented_response(editor_api):
    entry = CatalogEntryFactory()
    members = {
        "capability": "data-analysis",
        "priority": 90,
        "metadata": {
            "supported_formats": ["csv", "parquet", "arrow"],
            "max_file_size": "1GB",
            "processing_time": "medium",
        },
        "health_check_url": "https://analyzer.example.com/health",
    }
    payload = members | {"agent_id": entry.agent_key}
    body = editor_api.post(REGISTRY_URL, payload, format="json").json()

    assert body.items() >= members.items()
    assert (body["agent_id"], body["version"]) == (str(entry.pk), "1.0.0")


@pytest.fixture
def analyzer(editor_api):
    """Create the first provider of the specification.

    95 of its 100 requests succeeded, 45 of them in the last hour.
    """
    metadata = METADATA | {"specializations": ["sales_analysis", "financial_reporting"]}
    registration = create_provider("DataAnalyzer", priority=100, metadata=metadata)
    send_report(editor_api, registration, 50, 5, 1200)
    RequestSecond.objects.update(second=F("second") - 2 * 3600)
    send_report(editor_api, registration, 45, 0, 1200, load_score=0.3)
    health.record_probe(registration.entry, success(60, LAST_CHECK))
    return registration


def test_capability_list_returns_documented_response(editor_api, viewer_api, analyzer):
    second = create_provider("AdvancedAnalyzer", version="2.0.0", priority=80)
    send_report(editor_api, second, 49, 1, 2100, load_score=0.7)
    third = create_provider("ImageProcessor", "image-processing")
    send_report(editor_api, third, 23, 2, 3500, load_score=0.1)

    assert viewer_api.get(REGISTRY_URL).json() == {
        "capabilities": [
            {
                "capability": "data-analysis",
                "providers": [
                    {
                        "registration_id": analyzer.pk,
                        "agent_id": str(analyzer.entry_id),
                        "agent_name": "DataAnalyzer",
                        "version": "1.0.0",
                        "priority": 100,
                        "status": "active",
                        "load_score": 0.3,
                        "response_time_avg": "1.2s",
                        "success_rate": 0.95,
                    },
                    {
                        "registration_id": second.pk,
                        "agent_id": str(second.entry_id),
                        "agent_name": "AdvancedAnalyzer",
                        "version": "2.0.0",
                        "priority": 80,
                        "status": "active",
                        "load_score": 0.7,
                        "response_time_avg": "2.1s",
                        "success_rate": 0.98,
                    },
                ],
            },
            {
                "capability": "image-processing",
                "providers": [
                    {
                        "registration_id": third.pk,
                        "agent_id": str(third.entry_id),
                        "agent_name": "ImageProcessor",
                        "version": "1.0.0",
                        "priority": 50,
                        "status": "active",
                        "load_score": 0.1,
                        "response_time_avg": "3.5s",
                        "success_rate": 0.92,
                    }
                ],
            },
        ],
        "total": 2,
        "limit": 50,
        "offset": 0,
    }


def test_capability_list_with_metadata_returns_documented_response(
    viewer_api, analyzer
):
    page = viewer_api.get(f"{REGISTRY_URL}?include_metadata=true").json()
    metrics = page["capabilities"][0]["providers"][0].pop("performance_metrics")

    assert page == {
        "capabilities": [
            {
                "capability": "data-analysis",
                "providers": [
                    {
                        "registration_id": analyzer.pk,
                        "agent_id": str(analyzer.entry_id),
                        "agent_name": "DataAnalyzer",
                        "version": "1.0.0",
                        "priority": 100,
                        "status": "active",
                        "metadata": {
                            "supported_formats": ["csv", "json", "xlsx"],
                            "max_file_size": "10MB",
                            "processing_time": "fast",
                            "specializations": [
                                "sales_analysis",
                                "financial_reporting",
                            ],
                        },
                    }
                ],
            }
        ],
        "total": 1,
        "limit": 50,
        "offset": 0,
    }
    assert list(metrics) == PERFORMANCE_METRICS
    expected = {"load_score": 0.3, "response_time_avg": "1.2s"}
    expected |= {"success_rate": 0.95, "requests_last_hour": 45}
    assert metrics.items() >= expected.items()


def test_routing_decision_returns_documented_response(editor_api, viewer_api):
    metadata = remove_members(METADATA, "processing_time")
    registration = create_provider("DataAnalyzer", priority=100, metadata=metadata)
    send_report(editor_api, registration, 19, 1, 1200, load_score=0.3)
    health.record_probe(registration.entry, success(60, LAST_CHECK))
    decision = viewer_api.get(f"{REGISTRY_URL}/data-analysis").json()
    metrics = decision["providers"][0].pop("performance_metrics")

    assert list(metrics) == PERFORMANCE_METRICS
    assert decision == {
        "capability": "data-analysis",
        "providers": [
            {
                "registration_id": registration.pk,
                "agent_id": str(registration.entry_id),
                "agent_name": "DataAnalyzer",
                "version": "1.0.0",
                "priority": 100,
                "status": "active",
                # The example says 0.85, but the formula is 100 × 1 × (1 − 0.3).
                "routing_score": 70.0,
                "metadata": {
                    "supported_formats": ["csv", "json", "xlsx"],
                    "max_file_size": "10MB",
                },
                "health": {
                    "status": "healthy",
                    "last_check": "2025-09-10T15:30:00Z",
                    "response_time": "1.2s",
                },
            }
        ],
        "routing_strategy": "priority",
        "total_providers": 1,
        "healthy_providers": 1,
    }


def test_fastest_response_decision_puts_fastest_provider_first(editor_api, viewer_api):
    slow, fast = (
        create_provider(name, "image-processing") for name in ("Slow", "Fast")
    )
    send_report(editor_api, slow, 1, 0, 3000)
    send_report(editor_api, fast, 1, 0, 200)
    strategy = "routing_strategy=fastest_response"
    decision = viewer_api.get(f"{REGISTRY_URL}/image-processing?{strategy}").json()

    assert decision["providers"][0]["agent_id"] == fast.agent_id
    assert decision["routing_strategy"] == "fastest_response"


def test_unregistration_returns_documented_response(editor_api):
    registration = create_provider("DataAnalyzer")
    response = editor_api.delete(
        f"{REGISTRY_URL}/{registration.agent_id}/data-analysis"
    )

    assert (response.status_code, response.content) == (204, b"")
    assert editor_api.get(REGISTRY_URL).json()["total"] == 0


def test_update_returns_documented_response(editor_api):
    registration = create_provider("DataAnalyzer", priority=100, metadata=METADATA)
    payload = {
        "priority": 120,
        "metadata": {
            "supported_formats": ["csv", "json", "xlsx", "parquet"],
            "max_file_size": "50MB",
            "processing_time": "fast",
            "new_feature": "streaming_analysis",
        },
        "health_check_url": "/api/v1/config-agents/{agent_id}/health/detailed",
    }
    response = editor_api.put(
        f"{REGISTRY_URL}/{registration.pk}", payload, format="json"
    )
    body = response.json()

    assert response.status_code == 200
    assert remove_members(body, *ADDITIONAL_MEMBERS) == {
        "registration_id": registration.pk,
        "agent_id": str(registration.entry_id),
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 120,
        "status": "active",
        "metadata": payload["metadata"],
    }
    assert set(body) > ADDITIONAL_MEMBERS
    assert TIMESTAMP.fullmatch(body["updated_at"])
    assert body["last_updated"] == body["updated_at"]
    assert body["health_check_url"] == payload["health_check_url"]


def test_capability_health_returns_documented_response(
    editor_api, viewer_api, analyzer
):
    second = create_provider("AdvancedAnalyzer", priority=80)
    send_report(editor_api, second, 49, 1, 2100)
    health.record_probe(second.entry, success(80, LAST_CHECK - timedelta(seconds=15)))
    third = create_provider("BackupAnalyzer", priority=10)
    for minutes in (7, 6, 5):
        at = LAST_CHECK - timedelta(minutes=minutes)
        health.record_probe(third.entry, failure(at, "Connection timeout after 30s"))

    assert viewer_api.get(f"{REGISTRY_URL}/data-analysis/health").json() == {
        "capability": "data-analysis",
        "overall_health": "healthy",
        "healthy_providers": 2,
        "total_providers": 3,
        "providers": [
            {
                "agent_id": str(analyzer.entry_id),
                "agent_name": "DataAnalyzer",
                "status": "healthy",
                "last_check": "2025-09-10T15:30:00Z",
                "response_time": "1.2s",
                "success_rate": 0.95,
            },
            {
                "agent_id": str(second.entry_id),
                "agent_name": "AdvancedAnalyzer",
                "status": "healthy",
                "last_check": "2025-09-10T15:29:45Z",
                "response_time": "2.1s",
                "success_rate": 0.98,
            },
            {
                "agent_id": str(third.entry_id),
                "agent_name": "BackupAnalyzer",
                "status": "unhealthy",
                "last_check": "2025-09-10T15:25:00Z",
                "error": "Connection timeout after 30s",
                "consecutive_failures": 3,
                "code": "HEALTH_CHECK_FAILED",
            },
        ],
    }


HEALTHY, OFFLINE = Status.ACTIVE, Status.OFFLINE
# The example lists three of its seven capabilities.
STATUSES_BY_CAPABILITY = {
    "data-analysis": [HEALTHY, HEALTHY],
    "image-processing": [HEALTHY, OFFLINE],
    "web-search": [OFFLINE],
    "code-analysis": [HEALTHY],
    "report-generation": [HEALTHY, OFFLINE],
    "text-analysis": [HEALTHY],
    "translation": [HEALTHY],
}
EXPECTED_CAPABILITIES = [
    {
        "capability": "data-analysis",
        "health": "healthy",
        "healthy_providers": 2,
        "total_providers": 2,
    },
    {
        "capability": "image-processing",
        "health": "degraded",
        "healthy_providers": 1,
        "total_providers": 2,
    },
    {
        "capability": "web-search",
        "health": "unhealthy",
        "healthy_providers": 0,
        "total_providers": 1,
    },
]


def test_overall_health_returns_documented_response(viewer_api):
    for capability, states in STATUSES_BY_CAPABILITY.items():
        for status in states:
            RegistrationFactory(capability=capability, entry__status=status)
    body = viewer_api.get(f"{REGISTRY_URL}/health").json()
    capabilities = body.pop("capabilities")

    assert body == {
        "overall_health": "degraded",
        "healthy_capabilities": 4,
        "degraded_capabilities": 2,
        "unhealthy_capabilities": 1,
    }
    assert len(capabilities) == 7
    assert all(expected in capabilities for expected in EXPECTED_CAPABILITIES)


def test_unknown_capability_returns_documented_error(viewer_api):
    create_provider("DataAnalyzer")
    create_provider("ImageProcessor", "image-processing")
    response = viewer_api.get(f"{REGISTRY_URL}/non-existent-capability")
    body = assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")

    assert body["error"] == "Capability not found"
    assert body["details"] == {
        "capability": "non-existent-capability",
        "available_capabilities": ["data-analysis", "image-processing"],
    }
    assert body["request_id"].startswith("req_")
