"""GET /capabilities: the registered capabilities and their providers."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.utils import timezone

from catalog.models import Status
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.routing.api.requests import REGISTRY_URL
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

DEFAULT_MEMBERS = [
    "registration_id",
    "agent_id",
    "agent_name",
    "version",
    "priority",
    "status",
]


def list_capabilities(client, **query) -> dict:
    response = client.get(f"{REGISTRY_URL}?{urlencode(query)}")
    assert response.status_code == 200, response.json()
    return response.json()


def get_registration_ids(client, **query) -> dict[str, list[str]]:
    """Return the registration IDs of the listed providers by capability."""
    return {
        capability["capability"]: [
            provider["registration_id"] for provider in capability["providers"]
        ]
        for capability in list_capabilities(client, **query)["capabilities"]
    }


def test_empty_registry_returns_empty_list(viewer_api):
    assert list_capabilities(viewer_api) == {
        "capabilities": [],
        "total": 0,
        "limit": 50,
        "offset": 0,
    }


def test_list_orders_capabilities_by_name_and_providers_by_priority(viewer_api):
    names = ["web-search", "translation", "data-analysis"]
    web, translator, low = (RegistrationFactory(capability=n) for n in names)
    high = RegistrationFactory(priority=90)

    assert list(get_registration_ids(viewer_api).items()) == [
        ("data-analysis", [high.pk, low.pk]),
        ("translation", [translator.pk]),
        ("web-search", [web.pk]),
    ]


def test_unmeasured_metrics_are_null(viewer_api):
    RegistrationFactory()
    ((provider,),) = (
        c["providers"] for c in list_capabilities(viewer_api)["capabilities"]
    )

    assert list(provider) == [
        *DEFAULT_MEMBERS,
        "load_score",
        "response_time_avg",
        "success_rate",
    ]
    assert provider["load_score"] is None
    assert provider["response_time_avg"] is provider["success_rate"] is None


def test_response_time_comes_from_last_probe_until_callers_report(viewer_api):
    RegistrationFactory(entry__latency_ms=440)
    ((provider,),) = (
        c["providers"] for c in list_capabilities(viewer_api)["capabilities"]
    )

    assert provider["response_time_avg"] == "0.4s"


def test_include_metadata_adds_metadata_and_performance_metrics(viewer_api):
    RegistrationFactory(metadata={"a": [1]})
    page = list_capabilities(viewer_api, include_metadata="true")
    ((provider,),) = (c["providers"] for c in page["capabilities"])

    assert list(provider) == [*DEFAULT_MEMBERS, "metadata", "performance_metrics"]
    assert provider["metadata"] == {"a": [1]}
    assert (page["total"], page["limit"], page["offset"]) == (1, 50, 0)


def test_include_metadata_defaults_to_false(viewer_api):
    RegistrationFactory()

    assert list_capabilities(viewer_api, include_metadata="false") == list_capabilities(
        viewer_api
    )


def test_capability_filter_matches_exactly(viewer_api):
    registration = RegistrationFactory()
    RegistrationFactory(capability="data-analysis-deep")

    assert get_registration_ids(viewer_api, capability="data-analysis") == {
        "data-analysis": [registration.pk]
    }
    assert get_registration_ids(viewer_api, capability="data") == {}


@pytest.mark.parametrize("name", ["agent_id", "agent_key"])
def test_agent_filter_accepts_id_and_key(viewer_api, name):
    registration = RegistrationFactory()
    other = RegistrationFactory(entry=registration.entry, capability="web-search")
    RegistrationFactory()
    agent_id = (
        registration.agent_id if name == "agent_id" else registration.entry.agent_key
    )

    ids = get_registration_ids(viewer_api, agent_id=agent_id)
    assert ids == {"data-analysis": [registration.pk], "web-search": [other.pk]}


@pytest.mark.parametrize("agent_id", [uuid4(), "nobody", "a/b"])
def test_agent_filter_with_unknown_agent_returns_empty_list(viewer_api, agent_id):
    RegistrationFactory()

    assert get_registration_ids(viewer_api, agent_id=agent_id) == {}


def test_agent_filter_without_registrations_returns_empty_list(viewer_api):
    RegistrationFactory()

    assert get_registration_ids(viewer_api, agent_id=CatalogEntryFactory().pk) == {}


def test_list_version_filter_matches_exactly(viewer_api):
    RegistrationFactory(version="1.0.0")
    other = RegistrationFactory(version="2.0.0")

    assert get_registration_ids(viewer_api, version="2.0.0") == {
        "data-analysis": [other.pk]
    }
    assert (
        get_registration_ids(viewer_api, version="2")
        == get_registration_ids(viewer_api, version="2.0")
        == {}
    )


@pytest.mark.parametrize("status", ["active", "inactive", "unhealthy", "draining"])
def test_status_filter_returns_matching_providers(viewer_api, status):
    registrations = {
        "active": RegistrationFactory(),
        "inactive": RegistrationFactory(desired_state="inactive"),
        "unhealthy": RegistrationFactory(entry__status=Status.OFFLINE),
        "draining": RegistrationFactory(desired_state="draining"),
    }
    (capability,) = list_capabilities(viewer_api, status=status)["capabilities"]

    (provider,) = capability["providers"]
    result = provider["registration_id"], provider["status"]
    assert result == (registrations[status].pk, status)


STATUS_BY_AGENT_STATUS = {
    Status.ACTIVE: "active",
    Status.DEGRADED: "active",
    Status.UNKNOWN: "active",
    Status.OFFLINE: "unhealthy",
    Status.DEPRECATED: "unhealthy",
}


@pytest.mark.parametrize(("agent_status", "status"), STATUS_BY_AGENT_STATUS.items())
def test_registration_status_follows_agent_status(viewer_api, agent_status, status):
    registration = RegistrationFactory(entry__status=agent_status)

    assert get_registration_ids(viewer_api, status=status) == {
        "data-analysis": [registration.pk]
    }


@pytest.mark.parametrize(("agent_status", "status"), STATUS_BY_AGENT_STATUS.items())
def test_own_health_check_overrides_agent_status(viewer_api, agent_status, status):
    registration = RegistrationFactory(
        entry__status=Status.OFFLINE,
        health_check_url="/health",
        next_check_at=timezone.now(),
        check_state=agent_status,
    )

    assert get_registration_ids(viewer_api, status=status) == {
        "data-analysis": [registration.pk]
    }


def test_own_health_check_does_not_override_deprecated_agent(viewer_api):
    registration = RegistrationFactory(
        entry__status=Status.DEPRECATED,
        health_check_url="/health",
        next_check_at=timezone.now(),
        check_state=Status.ACTIVE,
    )

    assert get_registration_ids(viewer_api, status="unhealthy") == {
        "data-analysis": [registration.pk]
    }


@pytest.mark.parametrize("desired_state", ["inactive", "draining"])
def test_inactive_or_draining_status_is_independent_of_agent_status(
    viewer_api, desired_state
):
    registration = RegistrationFactory(
        desired_state=desired_state, entry__status=Status.OFFLINE
    )

    assert get_registration_ids(viewer_api, status=desired_state) == {
        "data-analysis": [registration.pk]
    }
    assert get_registration_ids(viewer_api, status="unhealthy") == {}


def test_combined_filters_omit_capabilities_without_matches(viewer_api):
    registration = RegistrationFactory(version="2.0.0")
    RegistrationFactory(version="2.0.0", desired_state="inactive")
    RegistrationFactory(capability="web-search")
    query = {"version": "2.0.0", "status": "active"}

    assert get_registration_ids(viewer_api, **query) == {
        "data-analysis": [registration.pk]
    }
    assert list_capabilities(viewer_api, **query)["total"] == 1


def test_empty_filter_values_are_ignored(viewer_api):
    RegistrationFactory()
    names = ["capability", "agent_id", "status", "version", "include_metadata", "limit"]

    assert list_capabilities(
        viewer_api, **dict.fromkeys(names, "")
    ) == list_capabilities(viewer_api)


def test_drained_registration_is_not_listed(viewer_api):
    RegistrationFactory(drain_until=timezone.now())
    registration = RegistrationFactory(
        drain_until=timezone.now() + timedelta(minutes=1)
    )

    assert get_registration_ids(viewer_api) == {"data-analysis": [registration.pk]}


def test_pagination_counts_capabilities_not_providers(viewer_api):
    names = [f"capability-{letter}" for letter in "abcde"]
    for name in names:
        for agent_status in (Status.ACTIVE, Status.OFFLINE, Status.UNKNOWN):
            RegistrationFactory(capability=name, entry__status=agent_status)
    pages = [
        list_capabilities(viewer_api, limit=2, offset=offset) for offset in (0, 2, 4, 6)
    ]

    listed = [
        [capability["capability"] for capability in page["capabilities"]]
        for page in pages
    ]
    assert listed == [names[:2], names[2:4], names[4:], []]
    assert {len(c["providers"]) for page in pages for c in page["capabilities"]} == {3}
    metadata = [(page["total"], page["limit"], page["offset"]) for page in pages]
    assert metadata == [(5, 2, 0), (5, 2, 2), (5, 2, 4), (5, 2, 6)]


def test_page_size_defaults_to_50_and_is_at_most_200(viewer_api):
    for n in range(201):
        RegistrationFactory(capability=f"capability-{n:03}")

    assert len(list_capabilities(viewer_api)["capabilities"]) == 50
    assert len(list_capabilities(viewer_api, limit=200)["capabilities"]) == 200


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("offset=-1", "offset"),
        ("offset=1.5", "offset"),
        ("status=healthy", "status"),
        ("status=Active", "status"),
        ("status=active,inactive", "status"),
        ("include_metadata=yes", "include_metadata"),
        ("include_metadata=1", "include_metadata"),
        ("include_metadata=True", "include_metadata"),
        ("q=data", "q"),
        ("kind=a2a.skill", "kind"),
        ("routing_strategy=priority", "routing_strategy"),
        ("Capability=data-analysis", "Capability"),
        ("version=1.0.0&version=2.0.0", "version"),
        ("capability=%00", "capability"),
        ("agent_id=%00", "agent_id"),
        ("version=%00", "version"),
    ],
)
def test_list_with_invalid_parameter_returns_400_with_its_name(
    viewer_api, query, parameter
):
    RegistrationFactory()
    response = viewer_api.get(f"{REGISTRY_URL}?{query}")
    body = assert_error_response(response, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": parameter}


def test_list_with_matching_etag_returns_304(viewer_api):
    RegistrationFactory()
    first = viewer_api.get(REGISTRY_URL)
    second = viewer_api.get(REGISTRY_URL, headers={"If-None-Match": first["ETag"]})

    assert (second.status_code, second.content) == (304, b"")
