"""Permissions and methods of the registry's API."""

import pytest
from rest_framework.test import APIClient

from routing.models import CapabilityRegistration
from tests.api_errors import assert_error_response
from tests.routing.api.requests import REGISTRY_URL, register, unregister, update
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db


def send_writes(client, registration) -> list:
    report = {"load_score": 0.5}
    return [
        register(client),
        update(client, registration, priority=1),
        client.post(f"{REGISTRY_URL}/{registration.pk}/reports", report, format="json"),
        unregister(client, registration),
    ]


def send_reads(client) -> list:
    paths = ["", "/health", "/data-analysis", "/data-analysis/health"]
    return [client.get(REGISTRY_URL + path) for path in paths]


@pytest.mark.parametrize("role", ["Editor", "Admin"])
def test_write_as_editor_or_admin_succeeds(api_client_for_role, role):
    responses = send_writes(api_client_for_role(role), RegistrationFactory())

    assert [response.status_code for response in responses] == [201, 200, 204, 204]


def test_write_as_viewer_returns_403(viewer_api):
    registration = RegistrationFactory()

    assert [response.status_code for response in send_reads(viewer_api)] == [200] * 4
    for response in send_writes(viewer_api, registration):
        assert_error_response(response, 403, "PERMISSION_DENIED")
    assert CapabilityRegistration.objects.get().priority == 50


def test_request_without_credentials_returns_401():
    registration = RegistrationFactory()
    anonymous = APIClient()

    for response in [*send_reads(anonymous), *send_writes(anonymous, registration)]:
        assert_error_response(response, 401, "NOT_AUTHENTICATED")


def test_anonymous_read_setting_allows_only_reads(settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    registration = RegistrationFactory()
    anonymous = APIClient()

    assert [response.status_code for response in send_reads(anonymous)] == [200] * 4
    for response in send_writes(anonymous, registration):
        assert_error_response(response, 401, "NOT_AUTHENTICATED")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", ""),
        ("DELETE", ""),
        ("PUT", "/health"),
        ("POST", "/data-analysis"),
        ("PATCH", "/cap-reg-1"),
        ("GET", "/cap-reg-1/reports"),
        ("GET", "/some-agent/data-analysis"),
    ],
)
def test_unsupported_registry_method_returns_405(admin_api, method, path):
    response = admin_api.generic(method, REGISTRY_URL + path)

    assert_error_response(response, 405, "METHOD_NOT_ALLOWED")
