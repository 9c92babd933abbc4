"""Performance metrics of the providers in a routing decision."""

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health import status as health
from catalog.health.history import truncate_to_hour
from routing import health_checks, rotation, service
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success
from tests.routing.api.requests import REGISTRY_URL, get_decision, request_decision
from tests.routing.factories import create_registration

pytestmark = pytest.mark.django_db


def test_success_rate_comes_from_probes_until_callers_report(viewer_api):
    registration = create_registration("A")
    this_hour = truncate_to_hour(timezone.now())
    health.record_probe(registration.entry, failure(this_hour - timedelta(hours=2)))
    for minutes in (3, 2, 1):
        health.record_probe(
            registration.entry, success(at=this_hour - timedelta(minutes=minutes))
        )
    metrics = get_decision(viewer_api)["providers"][0]["performance_metrics"]

    assert (metrics["success_rate"], metrics["error_rate"]) == (0.5, 0.5)
    assert (metrics["uptime_percentage"], metrics["consecutive_failures"]) == (50.0, 0)


def get_uptime(client):
    (provider,) = get_decision(client)["providers"]
    return provider["performance_metrics"]["uptime_percentage"]


def test_uptime_covers_last_24_hours(viewer_api):
    registration = create_registration("A")
    this_hour = truncate_to_hour(timezone.now())
    health.record_probe(registration.entry, failure(this_hour - timedelta(hours=25)))
    assert get_uptime(viewer_api) is None
    health.record_probe(registration.entry, success(at=this_hour - timedelta(hours=22)))
    assert get_uptime(viewer_api) == 100.0
    health.record_probe(registration.entry, failure(this_hour - timedelta(hours=1)))
    assert get_uptime(viewer_api) == 50.0


def test_uptime_weighs_current_hour_by_elapsed_time(viewer_api):
    registration = create_registration("A")
    now = timezone.now()
    for hours in range(1, 10):
        health.record_probe(
            registration.entry,
            success(at=truncate_to_hour(now) - timedelta(hours=hours)),
        )
    health.record_probe(registration.entry, failure(now))
    elapsed = max(60, (now - truncate_to_hour(now)).total_seconds()) / 3600

    assert get_uptime(viewer_api) == pytest.approx(100 * 9 / (9 + elapsed), abs=0.1)


def test_uptime_weighs_hour_a_day_ago_by_remaining_time(viewer_api):
    registration = create_registration("A")
    now = timezone.now()
    health.record_probe(
        registration.entry, failure(truncate_to_hour(now) - timedelta(hours=24))
    )
    assert get_uptime(viewer_api) == 0.0
    health.record_probe(
        registration.entry, success(at=truncate_to_hour(now) - timedelta(hours=1))
    )
    remaining = max(60, 3600 - (now - truncate_to_hour(now)).total_seconds()) / 3600

    assert get_uptime(viewer_api) == pytest.approx(100 / (1 + remaining), abs=0.1)


def test_uptime_with_own_health_check_ignores_agent_probes(viewer_api):
    registration = service.register(
        CatalogEntryFactory(), "data-analysis", health_check_url="/health"
    )
    this_hour = truncate_to_hour(timezone.now())
    health.record_probe(registration.entry, success(at=this_hour - timedelta(hours=2)))
    health_checks.record_probe(registration, failure(this_hour - timedelta(hours=2)))
    health_checks.record_probe(registration, success(at=this_hour - timedelta(hours=1)))

    assert get_uptime(viewer_api) == 50.0


def test_head_request_does_not_advance_rotation(viewer_api):
    create_registration("A")
    before = request_decision(
        viewer_api, routing_strategy="load_balance", peek="true"
    ).json()
    for _ in range(3):
        viewer_api.head(f"{REGISTRY_URL}/data-analysis?routing_strategy=load_balance")

    assert (
        request_decision(
            viewer_api, routing_strategy="load_balance", peek="true"
        ).json()
        == before
    )
    assert rotation.peek_turn("data-analysis") == 1


def test_decision_and_list_show_same_performance_metrics(viewer_api):
    registration = create_registration("A", load=0.4)
    health.record_probe(registration.entry, success(1234))
    capability_list = viewer_api.get(f"{REGISTRY_URL}?include_metadata=true").json()

    listed_metrics = capability_list["capabilities"][0]["providers"][0][
        "performance_metrics"
    ]
    assert (
        get_decision(viewer_api)["providers"][0]["performance_metrics"]
        == listed_metrics
    )
