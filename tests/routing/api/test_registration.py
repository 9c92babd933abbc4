"""Registering capabilities: POST /capabilities."""

import pytest
from django.utils import timezone

from catalog.models import Status
from routing.models import CapabilityRegistration
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.routing.api.requests import REGISTRY_URL, register, update
from tests.routing.factories import RegistrationFactory
from tests.servers import LOOPBACK

pytestmark = pytest.mark.django_db


def test_omitted_members_have_defaults(editor_api):
    body = register(editor_api).json()

    assert (body["version"], body["priority"]) == ("1.0.0", 50)
    assert (body["metadata"], body["health_check_url"]) == ({}, None)
    assert body["status"] == "active"


@pytest.mark.parametrize("name", ["pk", "agent_key"])
def test_agent_id_accepts_id_and_key(editor_api, name):
    entry = CatalogEntryFactory()
    response = register(editor_api, agent_id=str(getattr(entry, name)))

    assert (response.status_code, response.json()["agent_id"]) == (201, str(entry.pk))


def test_agents_and_capabilities_are_many_to_many(editor_api):
    entry = CatalogEntryFactory()
    responses = [
        register(editor_api, entry),
        register(editor_api, entry, capability="web-search"),
        register(editor_api),
    ]

    assert [response.status_code for response in responses] == [201] * 3


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_duplicate_registration_returns_409_regardless_of_version(editor_api, version):
    registration = RegistrationFactory()
    response = register(editor_api, registration.entry, version=version)
    body = assert_error_response(response, 409, "DUPLICATE_REGISTRATION")

    expected = {"agent_id": registration.agent_id, "capability": "data-analysis"}
    assert body["details"] == expected
    assert CapabilityRegistration.objects.count() == 1


def test_response_has_time_of_last_agent_probe(editor_api):
    entry = CatalogEntryFactory(last_probed_at=timezone.now())
    body = register(editor_api, entry).json()

    assert body["last_health_check"] == f"{entry.last_probed_at:%Y-%m-%dT%H:%M:%SZ}"


def test_registration_of_offline_agent_is_unhealthy(editor_api):
    offline = CatalogEntryFactory(status=Status.OFFLINE)

    assert register(editor_api, offline).json()["status"] == "unhealthy"


@pytest.mark.parametrize(
    "agent_id",
    ["6911fb4e-748c-4fdd-b304-900796c5dbdc", "external-python-analyzer", "a.b:c_d"],
)
def test_register_with_unknown_agent_returns_404(editor_api, agent_id):
    body = assert_error_response(
        register(editor_api, agent_id=agent_id), 404, "AGENT_NOT_FOUND"
    )

    assert body["details"] == {"agent_id": agent_id}


@pytest.mark.parametrize("agent_id", ["a/b", "a b", "ü", "x" * 129, "<b>"])
def test_invalid_agent_id_returns_400(editor_api, agent_id):
    body = assert_error_response(
        register(editor_api, agent_id=agent_id), 400, "INVALID_AGENT_ID"
    )

    assert body["details"] == {"agent_id": agent_id[:128]}


def test_agent_id_may_have_128_characters(editor_api):
    assert_error_response(
        register(editor_api, agent_id="x" * 128), 404, "AGENT_NOT_FOUND"
    )


VALID_NAMES = [
    "data-analysis",
    "data-processing",
    "image-processing",
    "text-analysis",
    "web-search",
    "content-generation",
    "translation",
    "code-analysis",
    "report-generation",
    "sales-forecasting",
    "finance-risk-analysis",
    "a",
    "a1",
    "h2o-2go",
    "a" * 100,
    "health-check",
    "cap-reg",
    "reports",
]
INVALID_NAMES = [
    "a" * 101,
    "Data-Analysis",
    "data_analysis",
    "data analysis",
    " data-analysis",
    "data-analysis\n",
    "data--analysis",
    "-data",
    "data-",
    "-",
    "1st-step",
    "data.analysis",
    "data/analysis",
    "data-analysis:v2.0",
    "system:capabilities",
    "übersetzung",
    "data-analysís",
    "٣d",
    "health",
    "cap-reg-abc123",
    "cap-reg-",
    "<script>",
]


@pytest.mark.parametrize("name", VALID_NAMES, ids=lambda name: name[:30])
def test_valid_capability_name_is_registered_found_and_unregistered(editor_api, name):
    response = register(editor_api, capability=name)
    body = response.json()

    assert (response.status_code, body["capability"]) == (201, name)
    assert editor_api.get(f"{REGISTRY_URL}/{name}").json()["total_providers"] == 1
    assert (
        editor_api.get(f"{REGISTRY_URL}/{name}/health").json()["total_providers"] == 1
    )
    deleted = editor_api.delete(f"{REGISTRY_URL}/{body['agent_id']}/{name}")
    assert deleted.status_code == 204


@pytest.mark.parametrize("name", INVALID_NAMES, ids=lambda name: ascii(name)[:30])
def test_invalid_capability_name_returns_400(editor_api, name):
    response = register(editor_api, capability=name)
    body = assert_error_response(response, 400, "INVALID_CAPABILITY_NAME")

    assert body["details"] == {"capability": name}
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("priority", [0, 1, 50, 999, 1000])
def test_priority_from_0_to_1000_is_accepted(editor_api, priority):
    assert register(editor_api, priority=priority).json()["priority"] == priority


VALID_VERSIONS = ["0.0.0", "2.10.3", "1.0.0-alpha.1", "1.0.0-0a.b", "1.0.0+build.01"]
INVALID_VERSIONS = [
    "1",
    "1.0",
    "v1.0.0",
    "01.0.0",
    "1.0.0.0",
    "latest",
    "1.0.0-",
    "1.0.x",
]
INVALID_VERSIONS += ["1.0.0-01", "1.0.0+", "1.٠.0", " 1.0.0", "1.0.0\n", "^1.0.0", ""]
INVALID_VERSIONS += ["1.0.0-" + "a" * 95]


@pytest.mark.parametrize("version", VALID_VERSIONS)
def test_semantic_version_is_accepted(editor_api, version):
    assert register(editor_api, version=version).json()["version"] == version


@pytest.mark.parametrize("version", INVALID_VERSIONS, ids=ascii)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_invalid_version_returns_400(editor_api, method, version):
    if method == "POST":
        response = register(editor_api, version=version)
    else:
        response = update(editor_api, RegistrationFactory(), version=version)
    body = assert_error_response(response, 400, "INVALID_VERSION")

    assert body["details"] == {"version": version}


def test_metadata_is_returned_unchanged(editor_api):
    metadata = {"a": [1, 2.5, None, True, {"ü": "😀"}], "": {}, "n": -(2**53)}

    assert register(editor_api, metadata=metadata).json()["metadata"] == metadata


VALID_URLS = [
    "/health",
    "/api/v1/config-agents/{agent_id}/health?deep=1",
    "https://analyzer.example.com/health",
    "http://192.0.43.7:8080/{agent_id}",
    "HTTPS://analyzer.example.com",
]


@pytest.mark.parametrize("url", VALID_URLS)
def test_health_check_url_accepts_path_or_absolute_url(editor_api, url):
    assert register(editor_api, health_check_url=url).json()["health_check_url"] == url


def test_registered_health_check_is_due_immediately(editor_api):
    body = register(editor_api, health_check_url="/health").json()

    due = CapabilityRegistration.objects.get(pk=body["registration_id"]).next_check_at
    assert due <= timezone.now()


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:8000/",
        "https://[::1]/",
        "http://metadata.google.internal/",
    ],
)
def test_health_check_url_with_private_address_returns_400(editor_api, url):
    response = register(editor_api, health_check_url=url)
    body = assert_error_response(response, 400, "INVALID_BODY")

    message = "The URL must not point to a private or loopback address."
    assert body["details"]["errors"] == {"health_check_url": [message]}


def test_health_check_url_in_allowed_network_is_accepted(editor_api, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK

    assert register(editor_api, health_check_url="http://127.0.0.1/").status_code == 201
