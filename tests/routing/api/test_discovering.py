"""GET /capabilities: what there is, and who offers it."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.utils import timezone

from catalog.models import Status
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"
BARE = ["registration_id", "agent_id", "agent_name", "version", "priority", "status"]


def discover(client, **query) -> dict:
    answer = client.get(f"{REGISTRY}?{urlencode(query)}")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def offered(client, **query) -> dict[str, list[str]]:
    """The ids of the providers of each capability."""
    return {
        one["capability"]: [p["registration_id"] for p in one["providers"]]
        for one in discover(client, **query)["capabilities"]
    }


def test_an_empty_registry_is_an_empty_list(viewer):
    assert discover(viewer) == {
        "capabilities": [],
        "total": 0,
        "limit": 50,
        "offset": 0,
    }


def test_capabilities_are_in_order_of_name_and_providers_of_priority(viewer):
    names = ["web-search", "translation", "data-analysis"]
    web, translator, low = (RegistrationFactory(capability=n) for n in names)
    high = RegistrationFactory(priority=90)

    assert list(offered(viewer).items()) == [
        ("data-analysis", [high.pk, low.pk]),
        ("translation", [translator.pk]),
        ("web-search", [web.pk]),
    ]


def test_what_nobody_measured_is_null(viewer):
    RegistrationFactory()
    ((provider,),) = (c["providers"] for c in discover(viewer)["capabilities"])

    assert list(provider) == [*BARE, "load_score", "response_time_avg", "success_rate"]
    assert provider["load_score"] is None
    assert provider["response_time_avg"] is provider["success_rate"] is None


def test_until_callers_report_the_last_probe_tells_the_response_time(viewer):
    RegistrationFactory(entry__latency_ms=440)
    ((provider,),) = (c["providers"] for c in discover(viewer)["capabilities"])

    assert provider["response_time_avg"] == "0.4s"


def test_metadata_comes_with_all_metrics_and_replaces_the_flat_figures(viewer):
    RegistrationFactory(metadata={"a": [1]})
    told = discover(viewer, include_metadata="true")
    ((provider,),) = (c["providers"] for c in told["capabilities"])

    assert list(provider) == [*BARE, "metadata", "performance_metrics"]
    assert provider["metadata"] == {"a": [1]}
    assert (told["total"], told["limit"], told["offset"]) == (1, 50, 0)


def test_include_metadata_false_is_the_default(viewer):
    RegistrationFactory()

    assert discover(viewer, include_metadata="false") == discover(viewer)


def test_filter_by_capability(viewer):
    one = RegistrationFactory()
    RegistrationFactory(capability="data-analysis-deep")

    assert offered(viewer, capability="data-analysis") == {"data-analysis": [one.pk]}
    assert offered(viewer, capability="data") == {}


@pytest.mark.parametrize("name", ["agent_id", "agent_key"])
def test_filter_by_agent(viewer, name):
    one = RegistrationFactory()
    two = RegistrationFactory(entry=one.entry, capability="web-search")
    RegistrationFactory()
    agent_id = one.agent_id if name == "agent_id" else one.entry.agent_key

    found = offered(viewer, agent_id=agent_id)
    assert found == {"data-analysis": [one.pk], "web-search": [two.pk]}


@pytest.mark.parametrize("agent_id", [uuid4(), "nobody", "a/b"])
def test_an_unknown_agent_offers_nothing(viewer, agent_id):
    RegistrationFactory()

    assert offered(viewer, agent_id=agent_id) == {}


def test_an_agent_without_offers_offers_nothing(viewer):
    RegistrationFactory()

    assert offered(viewer, agent_id=CatalogEntryFactory().pk) == {}


def test_filter_by_version_exactly(viewer):
    RegistrationFactory(version="1.0.0")
    two = RegistrationFactory(version="2.0.0")

    assert offered(viewer, version="2.0.0") == {"data-analysis": [two.pk]}
    assert offered(viewer, version="2") == offered(viewer, version="2.0") == {}


@pytest.mark.parametrize("status", ["active", "inactive", "unhealthy", "draining"])
def test_filter_by_status(viewer, status):
    each = {
        "active": RegistrationFactory(),
        "inactive": RegistrationFactory(intent="inactive"),
        "unhealthy": RegistrationFactory(entry__status=Status.OFFLINE),
        "draining": RegistrationFactory(intent="draining"),
    }
    (one,) = discover(viewer, status=status)["capabilities"]

    (provider,) = one["providers"]
    told = provider["registration_id"], provider["status"]
    assert told == (each[status].pk, status)


STATES = {
    Status.ACTIVE: "active",
    Status.DEGRADED: "active",
    Status.UNKNOWN: "active",
    Status.OFFLINE: "unhealthy",
    Status.DEPRECATED: "unhealthy",
}


@pytest.mark.parametrize(("state", "status"), STATES.items())
def test_a_status_follows_the_agents_state(viewer, state, status):
    one = RegistrationFactory(entry__status=state)

    assert offered(viewer, status=status) == {"data-analysis": [one.pk]}


@pytest.mark.parametrize(("state", "status"), STATES.items())
def test_a_check_of_its_own_counts_instead(viewer, state, status):
    one = RegistrationFactory(
        entry__status=Status.OFFLINE,
        health_check_url="/health",
        next_check_at=timezone.now(),
        check_state=state,
    )

    assert offered(viewer, status=status) == {"data-analysis": [one.pk]}


def test_but_not_for_an_agent_that_is_deprecated(viewer):
    one = RegistrationFactory(
        entry__status=Status.DEPRECATED,
        health_check_url="/health",
        next_check_at=timezone.now(),
        check_state=Status.ACTIVE,
    )

    assert offered(viewer, status="unhealthy") == {"data-analysis": [one.pk]}


@pytest.mark.parametrize("intent", ["inactive", "draining"])
def test_who_is_set_aside_stays_so_however_its_agent_is(viewer, intent):
    one = RegistrationFactory(intent=intent, entry__status=Status.OFFLINE)

    assert offered(viewer, status=intent) == {"data-analysis": [one.pk]}
    assert offered(viewer, status="unhealthy") == {}


def test_filters_add_up_and_leave_out_capabilities_nobody_is_left_of(viewer):
    one = RegistrationFactory(version="2.0.0")
    RegistrationFactory(version="2.0.0", intent="inactive")
    RegistrationFactory(capability="web-search")
    query = {"version": "2.0.0", "status": "active"}

    assert offered(viewer, **query) == {"data-analysis": [one.pk]}
    assert discover(viewer, **query)["total"] == 1


def test_an_empty_value_is_no_filter(viewer):
    RegistrationFactory()
    names = ["capability", "agent_id", "status", "version", "include_metadata", "limit"]

    assert discover(viewer, **dict.fromkeys(names, "")) == discover(viewer)


def test_who_has_drained_is_not_listed(viewer):
    RegistrationFactory(drain_until=timezone.now())
    one = RegistrationFactory(drain_until=timezone.now() + timedelta(minutes=1))

    assert offered(viewer) == {"data-analysis": [one.pk]}


def test_paging_counts_capabilities_not_providers(viewer):
    names = [f"capability-{letter}" for letter in "abcde"]
    for name in names:
        for state in (Status.ACTIVE, Status.OFFLINE, Status.UNKNOWN):
            RegistrationFactory(capability=name, entry__status=state)
    pages = [discover(viewer, limit=2, offset=offset) for offset in (0, 2, 4, 6)]

    listed = [[one["capability"] for one in page["capabilities"]] for page in pages]
    assert listed == [names[:2], names[2:4], names[4:], []]
    assert {len(c["providers"]) for page in pages for c in page["capabilities"]} == {3}
    told = [(page["total"], page["limit"], page["offset"]) for page in pages]
    assert told == [(5, 2, 0), (5, 2, 2), (5, 2, 4), (5, 2, 6)]


def test_pages_have_50_capabilities_unless_told_otherwise_and_200_at_most(viewer):
    for n in range(201):
        RegistrationFactory(capability=f"capability-{n:03}")

    assert len(discover(viewer)["capabilities"]) == 50
    assert len(discover(viewer, limit=200)["capabilities"]) == 200


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
def test_a_bad_parameter_is_refused_and_named(viewer, query, parameter):
    RegistrationFactory()
    answer = viewer.get(f"{REGISTRY}?{query}")
    body = assert_error_response(answer, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": parameter}


def test_the_list_has_an_etag_and_is_not_sent_twice(viewer):
    RegistrationFactory()
    first = viewer.get(REGISTRY)
    again = viewer.get(REGISTRY, headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
