"""Every example of seed 001, field for field; ids and times are our own.

What is told beyond the seed is named here, and comes from the seed's own types:
`SUPERSET`, all of `PERFORMANCE_METRICS`, `code` beside an error.
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
from tests.probes import failed, well
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"
SUPERSET = {"updated_at", "last_updated", "registered_at", "last_health_check"}
SUPERSET |= {"health_check_url"}
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
CHECKED = datetime(2025, 9, 10, 15, 30, tzinfo=UTC)
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def offer(agent_name: str, capability: str = "data-analysis", **members):
    return RegistrationFactory(
        entry__display_name=agent_name, capability=capability, **members
    )


def report(client, registration, ok: int, not_ok: int, took_ms: int, **gauges):
    outcomes = [{"ok": n < ok, "response_time_ms": took_ms} for n in range(ok + not_ok)]
    place = f"{REGISTRY}/{registration.pk}/reports"
    answer = client.post(place, {"outcomes": outcomes} | gauges, format="json")
    assert answer.status_code == 204


def without(told: dict, *names: str) -> dict:
    return {name: value for name, value in told.items() if name not in names}


def test_registering(editor):
    entry = CatalogEntryFactory(display_name="DataAnalyzer")
    body = {
        "agent_id": str(entry.pk),
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 100,
        "metadata": METADATA,
        "health_check_url": "/api/v1/config-agents/{agent_id}/health",
    }
    answer = editor.post(REGISTRY, body, format="json")
    told = answer.json()

    assert answer.status_code == 201
    assert without(told, *SUPERSET) == {
        "registration_id": told["registration_id"],
        "agent_id": str(entry.pk),
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 100,
        "status": "active",
        "metadata": METADATA,
    }
    assert set(told) > SUPERSET
    assert re.fullmatch(r"cap-reg-[0-9a-f]+", told["registration_id"])
    assert MOMENT.fullmatch(told["registered_at"])
    assert told["registered_at"] == told["updated_at"] == told["last_updated"]
    assert told["last_health_check"] is None
    assert told["health_check_url"] == body["health_check_url"]


def test_registering_an_external_agent(editor):
    entry = CatalogEntryFactory()
    offered = {
        "capability": "data-analysis",
        "priority": 90,
        "metadata": {
            "supported_formats": ["csv", "parquet", "arrow"],
            "max_file_size": "1GB",
            "processing_time": "medium",
        },
        "health_check_url": "https://analyzer.example.com/health",
    }
    body = offered | {"agent_id": entry.agent_key}
    told = editor.post(REGISTRY, body, format="json").json()

    assert told.items() >= offered.items()
    assert (told["agent_id"], told["version"]) == (str(entry.pk), "1.0.0")


@pytest.fixture
def analyzer(editor):
    """The seed's first provider: 95 of 100 requests went well, 45 of late."""
    metadata = METADATA | {"specializations": ["sales_analysis", "financial_reporting"]}
    one = offer("DataAnalyzer", priority=100, metadata=metadata)
    report(editor, one, 50, 5, 1200)
    RequestSecond.objects.update(second=F("second") - 2 * 3600)
    report(editor, one, 45, 0, 1200, load_score=0.3)
    health.record_probe(one.entry, well(60, CHECKED))
    return one


def test_discovering(editor, viewer, analyzer):
    second = offer("AdvancedAnalyzer", version="2.0.0", priority=80)
    report(editor, second, 49, 1, 2100, load_score=0.7)
    third = offer("ImageProcessor", "image-processing")
    report(editor, third, 23, 2, 3500, load_score=0.1)

    assert viewer.get(REGISTRY).json() == {
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


def test_discovering_with_metadata(viewer, analyzer):
    told = viewer.get(f"{REGISTRY}?include_metadata=true").json()
    metrics = told["capabilities"][0]["providers"][0].pop("performance_metrics")

    assert told == {
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
    seeds = {"load_score": 0.3, "response_time_avg": "1.2s"}
    seeds |= {"success_rate": 0.95, "requests_last_hour": 45}
    assert metrics.items() >= seeds.items()


def test_finding(editor, viewer):
    metadata = without(METADATA, "processing_time")
    one = offer("DataAnalyzer", priority=100, metadata=metadata)
    report(editor, one, 19, 1, 1200, load_score=0.3)
    health.record_probe(one.entry, well(60, CHECKED))
    told = viewer.get(f"{REGISTRY}/data-analysis").json()
    metrics = told["providers"][0].pop("performance_metrics")

    assert list(metrics) == PERFORMANCE_METRICS
    assert told == {
        "capability": "data-analysis",
        "providers": [
            {
                "registration_id": one.pk,
                "agent_id": str(one.entry_id),
                "agent_name": "DataAnalyzer",
                "version": "1.0.0",
                "priority": 100,
                "status": "active",
                # The seed says 0.85, its formula 100 × 1 × (1 − 0.3).
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


def test_finding_the_best_provider_as_an_agent_does(editor, viewer):
    slow, quick = (offer(name, "image-processing") for name in ("Slow", "Quick"))
    report(editor, slow, 1, 0, 3000)
    report(editor, quick, 1, 0, 200)
    strategy = "routing_strategy=fastest_response"
    told = viewer.get(f"{REGISTRY}/image-processing?{strategy}").json()

    assert told["providers"][0]["agent_id"] == quick.agent_id
    assert told["routing_strategy"] == "fastest_response"


def test_unregistering(editor):
    one = offer("DataAnalyzer")
    answer = editor.delete(f"{REGISTRY}/{one.agent_id}/data-analysis")

    assert (answer.status_code, answer.content) == (204, b"")
    assert editor.get(REGISTRY).json()["total"] == 0


def test_updating(editor):
    one = offer("DataAnalyzer", priority=100, metadata=METADATA)
    body = {
        "priority": 120,
        "metadata": {
            "supported_formats": ["csv", "json", "xlsx", "parquet"],
            "max_file_size": "50MB",
            "processing_time": "fast",
            "new_feature": "streaming_analysis",
        },
        "health_check_url": "/api/v1/config-agents/{agent_id}/health/detailed",
    }
    answer = editor.put(f"{REGISTRY}/{one.pk}", body, format="json")
    told = answer.json()

    assert answer.status_code == 200
    assert without(told, *SUPERSET) == {
        "registration_id": one.pk,
        "agent_id": str(one.entry_id),
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": 120,
        "status": "active",
        "metadata": body["metadata"],
    }
    assert set(told) > SUPERSET
    assert MOMENT.fullmatch(told["updated_at"])
    assert told["last_updated"] == told["updated_at"]
    assert told["health_check_url"] == body["health_check_url"]


def test_the_health_of_a_capability(editor, viewer, analyzer):
    second = offer("AdvancedAnalyzer", priority=80)
    report(editor, second, 49, 1, 2100)
    health.record_probe(second.entry, well(80, CHECKED - timedelta(seconds=15)))
    third = offer("BackupAnalyzer", priority=10)
    for minutes in (7, 6, 5):
        at = CHECKED - timedelta(minutes=minutes)
        health.record_probe(third.entry, failed(at, "Connection timeout after 30s"))

    assert viewer.get(f"{REGISTRY}/data-analysis/health").json() == {
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


WELL, GONE = Status.ACTIVE, Status.OFFLINE
# The seed lists three of its seven capabilities.
SEVEN = {
    "data-analysis": [WELL, WELL],
    "image-processing": [WELL, GONE],
    "web-search": [GONE],
    "code-analysis": [WELL],
    "report-generation": [WELL, GONE],
    "text-analysis": [WELL],
    "translation": [WELL],
}
LISTED = [
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


def test_the_health_of_all_capabilities(viewer):
    for capability, states in SEVEN.items():
        for state in states:
            RegistrationFactory(capability=capability, entry__status=state)
    told = viewer.get(f"{REGISTRY}/health").json()
    capabilities = told.pop("capabilities")

    assert told == {
        "overall_health": "degraded",
        "healthy_capabilities": 4,
        "degraded_capabilities": 2,
        "unhealthy_capabilities": 1,
    }
    assert len(capabilities) == 7
    assert all(one in capabilities for one in LISTED)


def test_an_error(viewer):
    offer("DataAnalyzer")
    offer("ImageProcessor", "image-processing")
    answer = viewer.get(f"{REGISTRY}/non-existent-capability")
    body = assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")

    assert body["error"] == "Capability not found"
    assert body["details"] == {
        "capability": "non-existent-capability",
        "available_capabilities": ["data-analysis", "image-processing"],
    }
    assert body["request_id"].startswith("req_")
