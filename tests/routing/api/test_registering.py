"""Registering, updating and unregistering capabilities: POST, PUT and DELETE."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from catalog.models import Status
from routing.cleanup import remove_drained
from routing.models import CapabilityRegistration
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, UserFactory
from tests.routing.factories import RegistrationFactory
from tests.servers import LOOPBACK

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"


def register(client, entry=None, **members):
    entry = entry or CatalogEntryFactory()
    body = {"agent_id": str(entry.pk), "capability": "data-analysis"} | members
    return client.post(REGISTRY, body, format="json")


def update(client, registration, **members):
    return client.put(f"{REGISTRY}/{registration.pk}", members, format="json")


def unregister(client, registration, query: str = ""):
    url = f"{REGISTRY}/{registration.agent_id}/{registration.capability}"
    return client.delete(url + query)


def get_decision(client, query: str = "") -> dict:
    return client.get(f"{REGISTRY}/data-analysis?{query}").json()


# Registering


def test_omitted_members_have_defaults(editor):
    body = register(editor).json()

    assert (body["version"], body["priority"]) == ("1.0.0", 50)
    assert (body["metadata"], body["health_check_url"]) == ({}, None)
    assert body["status"] == "active"


@pytest.mark.parametrize("name", ["pk", "agent_key"])
def test_agent_id_accepts_id_and_key(editor, name):
    entry = CatalogEntryFactory()
    response = register(editor, agent_id=str(getattr(entry, name)))

    assert (response.status_code, response.json()["agent_id"]) == (201, str(entry.pk))


def test_agents_and_capabilities_are_many_to_many(editor):
    entry = CatalogEntryFactory()
    responses = [
        register(editor, entry),
        register(editor, entry, capability="web-search"),
        register(editor),
    ]

    assert [response.status_code for response in responses] == [201] * 3


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_duplicate_registration_returns_409_regardless_of_version(editor, version):
    registration = RegistrationFactory()
    response = register(editor, registration.entry, version=version)
    body = assert_error_response(response, 409, "DUPLICATE_REGISTRATION")

    expected = {"agent_id": registration.agent_id, "capability": "data-analysis"}
    assert body["details"] == expected
    assert CapabilityRegistration.objects.count() == 1


def test_response_has_time_of_last_agent_probe(editor):
    entry = CatalogEntryFactory(last_probed_at=timezone.now())
    body = register(editor, entry).json()

    assert body["last_health_check"] == f"{entry.last_probed_at:%Y-%m-%dT%H:%M:%SZ}"


def test_registration_of_offline_agent_is_unhealthy(editor):
    offline = CatalogEntryFactory(status=Status.OFFLINE)

    assert register(editor, offline).json()["status"] == "unhealthy"


@pytest.mark.parametrize(
    "agent_id",
    ["6911fb4e-748c-4fdd-b304-900796c5dbdc", "external-python-analyzer", "a.b:c_d"],
)
def test_register_with_unknown_agent_returns_404(editor, agent_id):
    body = assert_error_response(
        register(editor, agent_id=agent_id), 404, "AGENT_NOT_FOUND"
    )

    assert body["details"] == {"agent_id": agent_id}


@pytest.mark.parametrize("agent_id", ["a/b", "a b", "ü", "x" * 129, "<b>"])
def test_invalid_agent_id_returns_400(editor, agent_id):
    body = assert_error_response(
        register(editor, agent_id=agent_id), 400, "INVALID_AGENT_ID"
    )

    assert body["details"] == {"agent_id": agent_id[:128]}


def test_agent_id_may_have_128_characters(editor):
    assert_error_response(register(editor, agent_id="x" * 128), 404, "AGENT_NOT_FOUND")


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
def test_valid_capability_name_is_registered_found_and_unregistered(editor, name):
    response = register(editor, capability=name)
    body = response.json()

    assert (response.status_code, body["capability"]) == (201, name)
    assert editor.get(f"{REGISTRY}/{name}").json()["total_providers"] == 1
    assert editor.get(f"{REGISTRY}/{name}/health").json()["total_providers"] == 1
    deleted = editor.delete(f"{REGISTRY}/{body['agent_id']}/{name}")
    assert deleted.status_code == 204


@pytest.mark.parametrize("name", INVALID_NAMES, ids=lambda name: ascii(name)[:30])
def test_invalid_capability_name_returns_400(editor, name):
    response = register(editor, capability=name)
    body = assert_error_response(response, 400, "INVALID_CAPABILITY_NAME")

    assert body["details"] == {"capability": name}
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("priority", [0, 1, 50, 999, 1000])
def test_priority_from_0_to_1000_is_accepted(editor, priority):
    assert register(editor, priority=priority).json()["priority"] == priority


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
def test_semantic_version_is_accepted(editor, version):
    assert register(editor, version=version).json()["version"] == version


@pytest.mark.parametrize("version", INVALID_VERSIONS, ids=ascii)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_invalid_version_returns_400(editor, method, version):
    if method == "POST":
        response = register(editor, version=version)
    else:
        response = update(editor, RegistrationFactory(), version=version)
    body = assert_error_response(response, 400, "INVALID_VERSION")

    assert body["details"] == {"version": version}


# Members of POST and PUT bodies


def test_metadata_is_returned_unchanged(editor):
    metadata = {"a": [1, 2.5, None, True, {"ü": "😀"}], "": {}, "n": -(2**53)}

    assert register(editor, metadata=metadata).json()["metadata"] == metadata


VALID_URLS = [
    "/health",
    "/api/v1/config-agents/{agent_id}/health?deep=1",
    "https://analyzer.example.com/health",
    "http://192.0.43.7:8080/{agent_id}",
    "HTTPS://analyzer.example.com",
]
INVALID_URLS = [
    "health",
    "//evil.example/health",
    "///evil.example/health",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "ftp://a.example/",
    "https://",
    "https://a.example:port/",
    "https://a b.example/",
    "https://user:secret@a.example/health",
    "/a b",
    # urljoin() drops the line break.
    "/\n/evil.example/health",
    "/" + "x" * 2000,
]


@pytest.mark.parametrize("url", VALID_URLS)
def test_health_check_url_accepts_path_or_absolute_url(editor, url):
    assert register(editor, health_check_url=url).json()["health_check_url"] == url


def test_new_health_check_is_due_immediately(editor):
    body = register(editor, health_check_url="/health").json()

    due = CapabilityRegistration.objects.get(pk=body["registration_id"]).next_check_at
    assert due <= timezone.now()


INVALID_MEMBERS = {
    "boolean priority": {"priority": True},
    "string priority": {"priority": "5"},
    "fractional priority": {"priority": 1.5},
    "float priority": {"priority": 5.0},
    "negative priority": {"priority": -1},
    "priority of 1001": {"priority": 1001},
    "null priority": {"priority": None},
    "list priority": {"priority": [1]},
    "list metadata": {"metadata": ["a"]},
    "string metadata": {"metadata": "a"},
    "number metadata": {"metadata": 1},
    "null metadata": {"metadata": None},
    "NUL in metadata": {"metadata": {"a": "\0"}},
    "number version": {"version": 1},
    "null version": {"version": None},
    "metadata over 64 KiB": {"metadata": {"a": "x" * 65_536}},
    "number URL": {"health_check_url": 5},
    "unknown member": {"color": "red"},
    "read-only member": {"registered_at": "2026-01-01T00:00:00Z"},
    **{f"URL {ascii(url)[:40]}": {"health_check_url": url} for url in INVALID_URLS},
}


@pytest.mark.parametrize(
    "members", INVALID_MEMBERS.values(), ids=INVALID_MEMBERS.keys()
)
def test_register_with_invalid_member_returns_400(editor, members):
    assert_error_response(register(editor, **members), 400, "INVALID_BODY")
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.parametrize(
    "members", INVALID_MEMBERS.values(), ids=INVALID_MEMBERS.keys()
)
def test_update_with_invalid_member_returns_400(editor, members):
    registration = RegistrationFactory(priority=7)
    response = update(editor, registration, **({"priority": 8} | members))

    assert_error_response(response, 400, "INVALID_BODY")
    registration.refresh_from_db()
    assert registration.priority == 7


@pytest.mark.parametrize("member", ["agent_id", "capability"])
@pytest.mark.parametrize("value", [None, 5, True, ["a"], {"a": 1}], ids=repr)
def test_agent_id_or_capability_of_wrong_type_returns_400(editor, member, value):
    response = register(editor, **{member: value})
    body = assert_error_response(response, 400, "INVALID_BODY")

    assert list(body["details"]["errors"]) == [member]


@pytest.mark.parametrize(
    ("member", "code"),
    [("agent_id", "INVALID_AGENT_ID"), ("capability", "INVALID_CAPABILITY_NAME")],
)
def test_empty_agent_id_or_capability_returns_400(editor, member, code):
    assert_error_response(register(editor, **{member: ""}), 400, code)


def test_agent_id_and_capability_are_required(editor):
    body = assert_error_response(
        editor.post(REGISTRY, {}, format="json"), 400, "INVALID_BODY"
    )

    assert set(body["details"]["errors"]) == {"agent_id", "capability"}


@pytest.mark.parametrize("raw", ["", "{", "[]", "null", '"a"', '{"priority": NaN}'])
def test_body_that_is_not_an_object_returns_400(editor, raw):
    content_type = "application/json"
    responses = [
        editor.post(REGISTRY, raw, content_type=content_type),
        editor.put(
            f"{REGISTRY}/{RegistrationFactory().pk}", raw, content_type=content_type
        ),
    ]

    for response in responses:
        assert_error_response(response, 400, "INVALID_BODY")


def test_unsupported_content_type_returns_415(editor):
    response = editor.post(REGISTRY, {"agent_id": "a"}, format="multipart")

    assert_error_response(response, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_write_with_unknown_parameter_returns_400(editor):
    registration = RegistrationFactory()
    responses = [
        editor.post(f"{REGISTRY}?force=true", {}, format="json"),
        editor.put(
            f"{REGISTRY}/{registration.pk}?force=true", {"priority": 1}, format="json"
        ),
        unregister(editor, registration, "?force=true"),
        unregister(editor, registration, "?drain=yes"),
    ]

    for response in responses:
        assert_error_response(response, 400, "INVALID_PARAMETER")
    assert CapabilityRegistration.objects.get().priority == 50


# Updating


@pytest.mark.parametrize(
    "changes",
    [
        {"priority": 0},
        {"version": "2.0.0"},
        {"metadata": {"b": 2}},
        {"metadata": {}},
        {"health_check_url": "/health"},
        {"status": "inactive"},
        {"status": "draining"},
        {"priority": 9, "status": "inactive", "version": "3.0.0"},
    ],
    ids=str,
)
def test_update_changes_only_submitted_members(editor, changes):
    registration = RegistrationFactory(metadata={"a": 1})
    before = update(editor, registration, priority=50).json()
    after = update(editor, registration, **changes).json()

    times = ("updated_at", "last_updated")
    expected = before | changes | {name: after[name] for name in times}
    assert after == expected


def test_update_from_one_to_true_is_stored(editor):
    registration = RegistrationFactory(metadata={"gpu": 1})

    assert (
        update(editor, registration, metadata={"gpu": True}).json()["metadata"]["gpu"]
        is True
    )


def test_update_sets_updated_at(editor):
    long_ago = timezone.now() - timedelta(days=1)
    registration = RegistrationFactory(registered_at=long_ago, updated_at=long_ago)
    body = update(editor, registration, priority=3).json()

    assert body["registered_at"] < body["updated_at"] == body["last_updated"]


def test_empty_health_check_url_removes_health_check(editor):
    registration = RegistrationFactory(health_check_url="/health")

    assert (
        update(editor, registration, health_check_url="").json()["health_check_url"]
        is None
    )


def test_new_health_check_url_resets_health(editor):
    registration = RegistrationFactory(
        health_check_url="/old",
        next_check_at=timezone.now(),
        check_state=Status.OFFLINE,
        check_failures=3,
        checked_at=timezone.now(),
    )
    body = update(editor, registration, health_check_url="/new").json()

    assert (body["status"], body["last_health_check"]) == ("active", None)


def test_empty_update_returns_400(editor):
    assert_error_response(update(editor, RegistrationFactory()), 400, "INVALID_BODY")


@pytest.mark.parametrize("name", ["agent_id", "capability"])
def test_agent_and_capability_cannot_be_changed(editor, name):
    registration = RegistrationFactory(capability="web-search")
    response = update(editor, registration, priority=1, **{name: "data-analysis"})

    body = assert_error_response(response, 400, "INVALID_BODY")
    assert body["error"] == f"{name} cannot be changed"
    unchanged = update(
        editor, registration, priority=1, **{name: getattr(registration, name)}
    )
    assert unchanged.json()["priority"] == 1


@pytest.mark.parametrize("status", ["active", "inactive", "draining"])
def test_status_can_be_set(editor, status):
    assert update(editor, RegistrationFactory(), status=status).json()["status"] == (
        status
    )


@pytest.mark.parametrize("status", ["unhealthy", "healthy", "Active", "", None, True])
def test_invalid_status_returns_400(editor, status):
    response = update(editor, RegistrationFactory(), status=status)
    body = assert_error_response(response, 400, "INVALID_BODY")

    assert list(body["details"]["errors"]) == ["status"]


@pytest.mark.parametrize("status", ["inactive", "draining"])
def test_inactive_or_draining_provider_gets_no_traffic_until_active(editor, status):
    registration = RegistrationFactory()
    update(editor, registration, status=status)
    decision = get_decision(editor)
    update(editor, registration, status="active")

    assert (decision["providers"], decision["total_providers"]) == ([], 1)
    assert decision["healthy_providers"] == 0
    assert get_decision(editor)["providers"][0]["registration_id"] == registration.pk


def test_changed_priority_applies_immediately(editor):
    first, second = RegistrationFactory(priority=60), RegistrationFactory()
    update(editor, second, priority=70)

    registration_ids = [
        provider["registration_id"] for provider in get_decision(editor)["providers"]
    ]
    assert registration_ids == [second.pk, first.pk]


@pytest.mark.parametrize("key", ["cap-reg-0000000000000000", "data-analysis", "%00"])
def test_update_of_unknown_registration_returns_404(editor, key):
    RegistrationFactory()
    response = editor.put(f"{REGISTRY}/{key}", {"priority": 1}, format="json")

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")


# Unregistering


@pytest.mark.parametrize("name", ["agent_id", "agent_key"])
def test_unregistered_capability_can_be_registered_again(editor, name):
    registration = RegistrationFactory()
    other = RegistrationFactory()
    agent_id = (
        registration.agent_id if name == "agent_id" else registration.entry.agent_key
    )
    response = editor.delete(f"{REGISTRY}/{agent_id}/data-analysis")

    assert response.status_code == 204
    assert CapabilityRegistration.objects.get() == other
    assert register(editor, registration.entry).status_code == 201


def test_second_unregister_returns_404(editor):
    registration = RegistrationFactory()
    unregister(editor, registration)
    body = assert_error_response(
        unregister(editor, registration), 404, "REGISTRATION_NOT_FOUND"
    )

    expected = {"agent_id": registration.agent_id, "capability": "data-analysis"}
    assert body["details"] == expected


def test_unregister_of_reserved_name_returns_404(editor):
    registration = RegistrationFactory()
    response = editor.delete(f"{REGISTRY}/{registration.agent_id}/health")

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:8000/",
        "https://[::1]/",
        "http://metadata.google.internal/",
    ],
)
def test_health_check_url_with_private_address_returns_400(editor, url):
    response = register(editor, health_check_url=url)
    body = assert_error_response(response, 400, "INVALID_BODY")

    assert "public address" in str(body["details"])


def test_health_check_url_in_allowed_network_is_accepted(editor, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK

    assert register(editor, health_check_url="http://127.0.0.1/").status_code == 201


@pytest.mark.parametrize("agent_id", [uuid4(), "nobody", "%00", "x" * 300])
def test_unregister_with_unknown_agent_returns_404(editor, agent_id):
    response = editor.delete(f"{REGISTRY}/{agent_id}/data-analysis")

    assert_error_response(response, 404, "AGENT_NOT_FOUND")


@pytest.mark.parametrize("name", ["web-search", "No-Name", "%00", "x" * 300])
def test_unregister_of_unknown_capability_returns_404(editor, name):
    response = editor.delete(f"{REGISTRY}/{RegistrationFactory().agent_id}/{name}")

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")


def test_deleting_agent_deletes_its_registrations(admin):
    registration = RegistrationFactory()
    admin.delete(f"/api/v1/catalog/{registration.entry_id}")

    assert not CapabilityRegistration.objects.exists()


# Draining


def expire_drain():
    past = timezone.now() - timedelta(seconds=1)
    CapabilityRegistration.objects.update(drain_until=past)


def test_draining_provider_gets_no_new_traffic(editor):
    draining = RegistrationFactory(priority=1000)
    remaining = RegistrationFactory(priority=1)
    response = unregister(editor, draining, "?drain=true")

    decision = get_decision(editor, "include_unhealthy=true")
    statuses = [
        (provider["registration_id"], provider["status"])
        for provider in decision["providers"]
    ]
    assert (response.status_code, response.content) == (204, b"")
    assert statuses == [(remaining.pk, "active"), (draining.pk, "draining")]
    assert (decision["total_providers"], decision["healthy_providers"]) == (2, 1)
    assert [
        provider["registration_id"] for provider in get_decision(editor)["providers"]
    ] == [remaining.pk]


STRATEGIES = ["priority", "load_balance", "least_loaded", "fastest_response"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_draining_provider_is_never_first(editor, strategy):
    draining = RegistrationFactory(priority=1000, response_time_avg_ms=1)
    remaining = RegistrationFactory(priority=0)
    unregister(editor, draining, "?drain=true")
    query = f"routing_strategy={strategy}&include_unhealthy=true"
    first_agents = {
        get_decision(editor, query)["providers"][0]["agent_id"] for _ in range(10)
    }

    assert first_agents == {remaining.agent_id}


def test_drained_registration_is_removed_after_drain_seconds(editor, settings):
    settings.AGENTLENS_DRAIN_SECONDS = 5
    registration = RegistrationFactory()
    unregister(editor, registration, "?drain=true")

    registration.refresh_from_db()
    assert (
        timedelta(0) < registration.drain_until - timezone.now() <= timedelta(seconds=5)
    )
    assert remove_drained() == 0
    expire_drain()
    assert remove_drained() == 1
    assert not CapabilityRegistration.objects.exists()


def test_drained_registration_is_hidden_before_cleanup(editor):
    registration = RegistrationFactory()
    unregister(editor, registration, "?drain=true")
    expire_drain()
    report = {"load_score": 0.5}
    gone = "CAPABILITY_NOT_FOUND", "REGISTRATION_NOT_FOUND"

    assert editor.get(REGISTRY).json()["total"] == 0
    assert editor.get(f"{REGISTRY}/health").json()["capabilities"] == []
    assert_error_response(editor.get(f"{REGISTRY}/data-analysis"), 404, gone[0])
    assert_error_response(editor.get(f"{REGISTRY}/data-analysis/health"), 404, gone[0])
    assert_error_response(update(editor, registration, priority=1), 404, gone[1])
    assert_error_response(unregister(editor, registration), 404, gone[1])
    url = f"{REGISTRY}/{registration.pk}/reports"
    assert_error_response(editor.post(url, report, format="json"), 404, gone[1])
    assert CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("is_deleted", [False, True])
def test_drained_capability_can_be_registered_again(editor, is_deleted):
    registration = RegistrationFactory()
    unregister(editor, registration, "?drain=true")
    expire_drain()
    if is_deleted:
        remove_drained()
    response = register(editor, registration.entry)

    assert response.status_code == 201
    assert response.json()["registration_id"] != registration.pk


def test_draining_capability_cannot_be_registered_again(editor):
    draining = RegistrationFactory()
    unregister(editor, draining, "?drain=true")

    assert_error_response(
        register(editor, draining.entry), 409, "DUPLICATE_REGISTRATION"
    )


def test_setting_active_cancels_draining(editor):
    draining = RegistrationFactory()
    unregister(editor, draining, "?drain=true")
    body = update(editor, draining, status="active").json()

    draining.refresh_from_db()
    assert (body["status"], draining.drain_until) == ("active", None)


def test_second_drain_request_keeps_first_deadline(editor):
    draining = RegistrationFactory()
    unregister(editor, draining, "?drain=true")
    draining.refresh_from_db()
    first = draining.drain_until
    unregister(editor, draining, "?drain=true")

    draining.refresh_from_db()
    assert draining.drain_until == first


def test_unregister_with_drain_false_removes_immediately(editor):
    unregister(editor, RegistrationFactory(), "?drain=false")

    assert not CapabilityRegistration.objects.exists()


# Permissions


def send_writes(client, registration) -> list:
    report = {"load_score": 0.5}
    return [
        register(client),
        update(client, registration, priority=1),
        client.post(f"{REGISTRY}/{registration.pk}/reports", report, format="json"),
        unregister(client, registration),
    ]


def send_reads(client) -> list:
    paths = ["", "/health", "/data-analysis", "/data-analysis/health"]
    return [client.get(REGISTRY + path) for path in paths]


@pytest.mark.parametrize("role", ["Editor", "Admin"])
def test_write_as_editor_or_admin_succeeds(client_for, role):
    responses = send_writes(client_for(role), RegistrationFactory())

    assert [response.status_code for response in responses] == [201, 200, 204, 204]


def test_write_as_viewer_returns_403(viewer):
    registration = RegistrationFactory()

    assert [response.status_code for response in send_reads(viewer)] == [200] * 4
    for response in send_writes(viewer, registration):
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
def test_unsupported_method_returns_405(admin, method, path):
    response = admin.generic(method, REGISTRY + path)

    assert_error_response(response, 405, "METHOD_NOT_ALLOWED")


# Concurrency


def register_in_thread(token: str, agent_id: str) -> int:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    body = {"agent_id": agent_id, "capability": "data-analysis"}
    try:
        return client.post(REGISTRY, body, format="json").status_code
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
            registered = client.post(REGISTRY, body, format="json")
            deleted = client.delete(f"{REGISTRY}/{agent_id}/data-analysis")
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
    drained = RegistrationFactory(intent="draining", drain_until=timezone.now())
    with ThreadPoolExecutor(20) as pool:
        arguments = [token] * 20, [drained.agent_id] * 20
        responses = list(pool.map(register_in_thread, *arguments))

    assert sorted(responses) == [201] + [409] * 19
    assert CapabilityRegistration.objects.get() != drained
