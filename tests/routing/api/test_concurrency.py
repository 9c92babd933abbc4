"""Concurrent registrations of one capability."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from routing.models import CapabilityRegistration
from tests.factories import CatalogEntryFactory, UserFactory
from tests.routing.api.requests import (
    REGISTRY_URL,
)
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db


def register_in_thread(token: str, agent_id: str) -> int:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    body = {"agent_id": agent_id, "capability": "data-analysis"}
    try:
        return client.post(REGISTRY_URL, body, format="json").status_code
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_create_one_and_return_409_for_others():
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    agent_id = str(CatalogEntryFactory().pk)
    with ThreadPoolExecutor(20) as pool:
        futures = [pool.submit(register_in_thread, token, agent_id) for _ in range(20)]
        statuses = [future.result() for future in futures]

    assert sorted(statuses) == [201] + [409] * 19
    assert CapabilityRegistration.objects.count() == 1


def register_and_unregister_in_thread(token, agent_id):
    """Register and unregister the same capability ten times."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    body = {"agent_id": agent_id, "capability": "data-analysis"}
    statuses = []
    try:
        for _ in range(10):
            registered = client.post(REGISTRY_URL, body, format="json")
            deleted = client.delete(f"{REGISTRY_URL}/{agent_id}/data-analysis")
            statuses.append((registered.status_code, deleted.status_code))
    finally:
        connections.close_all()
    return statuses


@pytest.mark.django_db(transaction=True)
def test_concurrent_register_and_unregister_return_expected_statuses():
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    agent_id = str(CatalogEntryFactory().pk)
    with ThreadPoolExecutor(8) as pool:
        futures = [
            pool.submit(register_and_unregister_in_thread, token, agent_id)
            for _ in range(8)
        ]
        statuses = [pair for future in futures for pair in future.result()]

    assert {registered for registered, _ in statuses} <= {201, 409}
    assert {deleted for _, deleted in statuses} <= {204, 404}


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_replace_drained_registration_once():
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    drained = RegistrationFactory(desired_state="draining", drain_until=timezone.now())
    with ThreadPoolExecutor(20) as pool:
        arguments = [token] * 20, [drained.agent_id] * 20
        responses = list(pool.map(register_in_thread, *arguments))

    assert sorted(responses) == [201] + [409] * 19
    assert CapabilityRegistration.objects.get() != drained
