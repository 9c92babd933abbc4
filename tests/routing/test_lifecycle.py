"""The lifecycle of providers, from registration to unregistration."""

from contextlib import ExitStack

import httpx2
import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from catalog.health.scheduler import Prober
from routing.models import CapabilityRegistration
from tests.registered_agents import agent_card
from tests.routing.streams import get_event_types, open_websocket
from tests.servers import LOOPBACK, reply, run_server
from tests.websockets import create_auth_headers, receive_events

pytestmark = pytest.mark.django_db(transaction=True)

CAPABILITIES = "/api/v1/registry/capabilities"


@pytest.fixture
def api(agentlens_url):
    with httpx2.Client(
        base_url=agentlens_url, headers=create_auth_headers("Editor")
    ) as client:
        yield client


@pytest.fixture
def agent_servers(settings):
    """Run a server for each of two agents; yield it with the stack that stops it."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with ExitStack() as first, ExitStack() as second:
        stacks = {"Fast": first, "Steady": second}
        yield {
            name: (stack.enter_context(run_server()), stack)
            for name, stack in stacks.items()
        }


def assert_status(response, status):
    assert response.status_code == status, response.text
    return response.json() if response.content else None


def register(api, name, agent_server, **members):
    """Register the agent in the catalog and then its capability."""
    agent_server.routes["/health"] = reply()
    card = agent_card(name, "Resize", url=agent_server.url("/a2a"))
    entry = assert_status(api.post("/api/v1/catalog/register", json=card), 201)
    members |= {"agent_id": entry["id"], "capability": "image-processing"}
    members |= {"health_check_url": "/health"}
    return assert_status(api.post(CAPABILITIES, json=members), 201)


def get_decision(api, strategy="fastest_response", **query):
    query |= {"routing_strategy": strategy}
    response = api.get(f"{CAPABILITIES}/image-processing", params=query)
    return assert_status(response, 200)


def get_agent_names(api):
    return [provider["agent_name"] for provider in get_decision(api)["providers"]]


def run_health_checks():
    """Make all health checks due and run them."""
    CapabilityRegistration.objects.update(next_check_at=timezone.now())
    async_to_sync(Prober().probe_all_due)()


def send_report(api, registration, *times):
    outcomes = [
        {"ok": True, "response_time_ms": milliseconds} for milliseconds in times
    ]
    url = f"{CAPABILITIES}/{registration['registration_id']}/reports"
    assert_status(api.post(url, json={"outcomes": outcomes}), 204)


def test_two_providers_are_registered_checked_drained_and_removed(
    agentlens_url, api, agent_servers, settings
):
    settings.AGENTLENS_DRAIN_SECONDS = 0.5
    with open_websocket(agentlens_url, "?capability=image-processing") as websocket:
        fast = register(api, "Fast", agent_servers["Fast"][0], priority=10)
        steady = register(api, "Steady", agent_servers["Steady"][0], priority=900)
        run_health_checks()
        decision = get_decision(api)
        assert (decision["total_providers"], decision["healthy_providers"]) == (2, 2)

        send_report(api, fast, 40, 60)
        send_report(api, steady, 400, 600)
        assert get_agent_names(api) == ["Fast", "Steady"]
        send_report(api, fast, *[2000] * 10)
        assert get_agent_names(api) == ["Steady", "Fast"]
        send_report(api, fast, *[10] * 1000)
        assert get_agent_names(api) == ["Fast", "Steady"]

        agent_servers["Fast"][1].close()
        for _ in range(3):
            run_health_checks()
        assert get_agent_names(api) == ["Steady"]
        all_providers = get_decision(api, include_unhealthy="true")["providers"]
        assert [provider["status"] for provider in all_providers] == [
            "active",
            "unhealthy",
        ]

        url = f"{CAPABILITIES}/{steady['agent_id']}/image-processing"
        assert_status(api.delete(url, params={"drain": "true"}), 204)
        assert get_agent_names(api) == []
        assert_status(
            api.delete(f"{CAPABILITIES}/{fast['agent_id']}/image-processing"), 204
        )
        events = receive_events(websocket, 8)

    assert get_event_types(events) == [
        "registered",
        "registered",
        "health_changed",
        "health_changed",
        "health_changed",
        "health_changed",
        "updated",
        "unregistered",
    ]
