"""Requests to the API of the registry."""

from urllib.parse import urlencode

from tests.factories import CatalogEntryFactory

REGISTRY_URL = "/api/v1/registry/capabilities"


def register(client, entry=None, **members):
    """Register a capability of the agent, or of a new agent."""
    entry = entry or CatalogEntryFactory()
    body = {"agent_id": str(entry.pk), "capability": "data-analysis"} | members
    return client.post(REGISTRY_URL, body, format="json")


def update(client, registration, **members):
    return client.put(f"{REGISTRY_URL}/{registration.pk}", members, format="json")


def unregister(client, registration, query: str = ""):
    url = f"{REGISTRY_URL}/{registration.agent_id}/{registration.capability}"
    return client.delete(url + query)


def request_decision(client, capability: str = "data-analysis", **query):
    """Request the routing decision for a capability; return the response."""
    return client.get(f"{REGISTRY_URL}/{capability}?{urlencode(query)}")


def get_decision(client, **query) -> dict:
    """Return the routing decision for the capability `data-analysis`."""
    response = request_decision(client, **query)
    assert response.status_code == 200, response.json()
    return response.json()


def get_agent_names(client, **query) -> list[str]:
    """Return the names of the providers in routing order."""
    providers = get_decision(client, **query)["providers"]
    return [provider["agent_name"] for provider in providers]
