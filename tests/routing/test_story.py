"""From the first registration to the last, as a program would live it."""

from contextlib import ExitStack

import httpx2
import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from catalog.health.scheduler import Prober
from routing.models import CapabilityRegistration
from tests.published import agent
from tests.routing.test_events import bearer, follow, heard, kinds
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

CAPABILITIES = "/api/v1/registry/capabilities"


@pytest.fixture
def api(server):
    with httpx2.Client(base_url=server, headers=bearer("Editor")) as client:
        yield client


@pytest.fixture
def hosts(settings):
    """A machine for each of two agents, which can be switched off."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with ExitStack() as first, ExitStack() as second:
        switches = {"Quick": first, "Steady": second}
        yield {name: (on.enter_context(serving()), on) for name, on in switches.items()}


def answered(response, status):
    assert response.status_code == status, response.text
    return response.json() if response.content else None


def register(api, name, host, **offer):
    """Make the agent known, and what it takes traffic for."""
    host.routes["/health"] = reply()
    card = agent(name, "Resize", url=host.url("/a2a"))
    entry = answered(api.post("/api/v1/catalog/register", json=card), 201)
    offer |= {"agent_id": entry["id"], "capability": "image-processing"}
    offer |= {"health_check_url": "/health"}
    return answered(api.post(CAPABILITIES, json=offer), 201)


def providers(api, strategy="fastest_response", **asked):
    asked |= {"routing_strategy": strategy}
    found = api.get(f"{CAPABILITIES}/image-processing", params=asked)
    return answered(found, 200)


def best(api):
    return [one["agent_name"] for one in providers(api)["providers"]]


def time_passes():
    """Everybody comes due for a check again."""
    CapabilityRegistration.objects.update(next_check_at=timezone.now())
    async_to_sync(Prober().probe_all_due)()


def report(api, registration, *times):
    outcomes = [{"ok": True, "response_time_ms": took} for took in times]
    place = f"{CAPABILITIES}/{registration['registration_id']}/reports"
    answered(api.post(place, json={"outcomes": outcomes}), 204)


def test_two_providers_come_answer_fail_drain_and_go(server, api, hosts, settings):
    settings.AGENTLENS_DRAIN_SECONDS = 0.5
    with follow(server, "?capability=image-processing") as stream:
        quick = register(api, "Quick", hosts["Quick"][0], priority=10)
        steady = register(api, "Steady", hosts["Steady"][0], priority=900)
        time_passes()
        told = providers(api)
        assert (told["total_providers"], told["healthy_providers"]) == (2, 2)

        report(api, quick, 40, 60)
        report(api, steady, 400, 600)
        assert best(api) == ["Quick", "Steady"]
        report(api, quick, *[2000] * 10)
        assert best(api) == ["Steady", "Quick"]
        report(api, quick, *[10] * 1000)
        assert best(api) == ["Quick", "Steady"]

        hosts["Quick"][1].close()
        for _ in range(3):
            time_passes()
        assert best(api) == ["Steady"]
        everyone = providers(api, include_unhealthy="true")["providers"]
        assert [one["status"] for one in everyone] == ["active", "unhealthy"]

        gone = f"{CAPABILITIES}/{steady['agent_id']}/image-processing"
        answered(api.delete(gone, params={"drain": "true"}), 204)
        assert best(api) == []
        answered(
            api.delete(f"{CAPABILITIES}/{quick['agent_id']}/image-processing"), 204
        )
        events = heard(stream, 8)

    assert kinds(events) == [
        "registered",
        "registered",
        "health_changed",
        "health_changed",
        "health_changed",
        "health_changed",
        "updated",
        "unregistered",
    ]
