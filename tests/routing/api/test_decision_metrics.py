"""Performance metrics of the providers in a routing decision."""

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health import status as health
from catalog.health.uptime import truncate_to_hour
from catalog.models import HealthHour
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
    health.record_probe(
        registration.entry, success(at=this_hour - timedelta(minutes=30))
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


def create_hour(registration, hour, up, down):
    HealthHour.objects.create(
        entry=registration.entry,
        hour=hour,
        probes=1,
        up_seconds=up,
        down_seconds=down,
    )


def test_uptime_weighs_hours_by_known_time(viewer_api):
    registration = create_registration("A")
    this_hour = truncate_to_hour(timezone.now())
    create_hour(registration, this_hour - timedelta(hours=2), up=900, down=0)
    create_hour(registration, this_hour - timedelta(hours=3), up=0, down=2700)

    assert get_uptime(viewer_api) == 25.0


def test_uptime_includes_time_since_last_probe(viewer_api):
    registration = create_registration("A")
    now = timezone.now()
    create_hour(registration, truncate_to_hour(now) - timedelta(hours=2), 100, 0)
    health.record_probe(registration.entry, failure(now - timedelta(hours=1)))
    known = 60 * 1.1 + 90 + 5

    assert get_uptime(viewer_api) == pytest.approx(100 * 100 / (100 + known), abs=0.1)


def test_uptime_weighs_hour_a_day_ago_by_remaining_time(viewer_api):
    registration = create_registration("A")
    now = timezone.now()
    this_hour = truncate_to_hour(now)
    create_hour(registration, this_hour - timedelta(hours=24), up=0, down=3600)
    assert get_uptime(viewer_api) == 0.0
    create_hour(registration, this_hour - timedelta(hours=1), up=3600, down=0)
    remaining = max(60, 3600 - (now - this_hour).total_seconds()) / 3600

    assert get_uptime(viewer_api) == pytest.approx(100 / (1 + remaining), abs=0.1)


def test_uptime_of_unmeasured_hours_is_estimated_from_counts(viewer_api):
    registration = create_registration("A")
    this_hour = truncate_to_hour(timezone.now())
    HealthHour.objects.create(
        entry=registration.entry,
        hour=this_hour - timedelta(hours=2),
        probes=4,
        failures=1,
    )
    create_hour(registration, this_hour - timedelta(hours=1), up=0, down=1800)

    assert get_uptime(viewer_api) == 50.0


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
