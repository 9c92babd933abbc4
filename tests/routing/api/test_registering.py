"""Registering, changing and taking back: POST, PUT and DELETE."""

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


def change(client, registration, **members):
    return client.put(f"{REGISTRY}/{registration.pk}", members, format="json")


def unregister(client, registration, query: str = ""):
    place = f"{REGISTRY}/{registration.agent_id}/{registration.capability}"
    return client.delete(place + query)


def find(client, query: str = "") -> dict:
    return client.get(f"{REGISTRY}/data-analysis?{query}").json()


# Registering


def test_what_is_not_said_has_its_default(editor):
    told = register(editor).json()

    assert (told["version"], told["priority"]) == ("1.0.0", 50)
    assert (told["metadata"], told["health_check_url"]) == ({}, None)
    assert told["status"] == "active"


@pytest.mark.parametrize("name", ["pk", "agent_key"])
def test_an_agent_is_known_by_its_id_and_by_its_key(editor, name):
    entry = CatalogEntryFactory()
    answer = register(editor, agent_id=str(getattr(entry, name)))

    assert (answer.status_code, answer.json()["agent_id"]) == (201, str(entry.pk))


def test_one_agent_offers_several_capabilities_and_several_agents_one(editor):
    entry = CatalogEntryFactory()
    answers = [
        register(editor, entry),
        register(editor, entry, capability="web-search"),
        register(editor),
    ]

    assert [answer.status_code for answer in answers] == [201] * 3


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_the_same_offer_again_is_a_duplicate_whatever_its_version(editor, version):
    known = RegistrationFactory()
    answer = register(editor, known.entry, version=version)
    body = assert_error_response(answer, 409, "DUPLICATE_REGISTRATION")

    told = {"agent_id": known.agent_id, "capability": "data-analysis"}
    assert body["details"] == told
    assert CapabilityRegistration.objects.count() == 1


def test_the_time_of_an_agents_last_probe_is_told(editor):
    entry = CatalogEntryFactory(last_probed_at=timezone.now())
    told = register(editor, entry).json()

    assert told["last_health_check"] == f"{entry.last_probed_at:%Y-%m-%dT%H:%M:%SZ}"


def test_an_offer_of_an_agent_that_is_gone_is_unhealthy_from_the_start(editor):
    gone = CatalogEntryFactory(status=Status.OFFLINE)

    assert register(editor, gone).json()["status"] == "unhealthy"


@pytest.mark.parametrize(
    "agent_id",
    ["6911fb4e-748c-4fdd-b304-900796c5dbdc", "external-python-analyzer", "a.b:c_d"],
)
def test_an_unknown_agent_is_not_found(editor, agent_id):
    body = assert_error_response(
        register(editor, agent_id=agent_id), 404, "AGENT_NOT_FOUND"
    )

    assert body["details"] == {"agent_id": agent_id}


@pytest.mark.parametrize("agent_id", ["a/b", "a b", "ü", "x" * 129, "<b>"])
def test_an_agent_id_that_is_none_is_refused(editor, agent_id):
    body = assert_error_response(
        register(editor, agent_id=agent_id), 400, "INVALID_AGENT_ID"
    )

    assert body["details"] == {"agent_id": agent_id[:128]}


def test_an_agent_id_has_up_to_128_characters(editor):
    assert_error_response(register(editor, agent_id="x" * 128), 404, "AGENT_NOT_FOUND")


GOOD_NAMES = [
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
BAD_NAMES = [
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


@pytest.mark.parametrize("name", GOOD_NAMES, ids=lambda name: name[:30])
def test_a_good_name_is_registered_found_and_taken_back(editor, name):
    answer = register(editor, capability=name)
    told = answer.json()

    assert (answer.status_code, told["capability"]) == (201, name)
    assert editor.get(f"{REGISTRY}/{name}").json()["total_providers"] == 1
    assert editor.get(f"{REGISTRY}/{name}/health").json()["total_providers"] == 1
    back = editor.delete(f"{REGISTRY}/{told['agent_id']}/{name}")
    assert back.status_code == 204


@pytest.mark.parametrize("name", BAD_NAMES, ids=lambda name: ascii(name)[:30])
def test_a_bad_name_is_refused(editor, name):
    answer = register(editor, capability=name)
    body = assert_error_response(answer, 400, "INVALID_CAPABILITY_NAME")

    assert body["details"] == {"capability": name}
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("priority", [0, 1, 50, 999, 1000])
def test_a_priority_is_from_0_to_1000(editor, priority):
    assert register(editor, priority=priority).json()["priority"] == priority


VERSIONS = ["0.0.0", "2.10.3", "1.0.0-alpha.1", "1.0.0-0a.b", "1.0.0+build.01"]
NO_VERSIONS = ["1", "1.0", "v1.0.0", "01.0.0", "1.0.0.0", "latest", "1.0.0-", "1.0.x"]
NO_VERSIONS += ["1.0.0-01", "1.0.0+", "1.٠.0", " 1.0.0", "1.0.0\n", "^1.0.0", ""]
NO_VERSIONS += ["1.0.0-" + "a" * 95]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_semantic(editor, version):
    assert register(editor, version=version).json()["version"] == version


@pytest.mark.parametrize("version", NO_VERSIONS, ids=ascii)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_another_version_is_refused(editor, method, version):
    if method == "POST":
        answer = register(editor, version=version)
    else:
        answer = change(editor, RegistrationFactory(), version=version)
    body = assert_error_response(answer, 400, "INVALID_VERSION")

    assert body["details"] == {"version": version}


# What both take, POST and PUT.


def test_metadata_comes_back_as_it_was(editor):
    metadata = {"a": [1, 2.5, None, True, {"ü": "😀"}], "": {}, "n": -(2**53)}

    assert register(editor, metadata=metadata).json()["metadata"] == metadata


URLS = [
    "/health",
    "/api/v1/config-agents/{agent_id}/health?deep=1",
    "https://analyzer.example.com/health",
    "http://192.0.43.7:8080/{agent_id}",
    "HTTPS://analyzer.example.com",
]
NO_URLS = [
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
    # Whoever joins it to an address drops the line break.
    "/\n/evil.example/health",
    "/" + "x" * 2000,
]


@pytest.mark.parametrize("url", URLS)
def test_a_health_check_is_a_path_of_the_agent_or_an_address(editor, url):
    assert register(editor, health_check_url=url).json()["health_check_url"] == url


def test_a_health_check_is_due_at_once(editor):
    told = register(editor, health_check_url="/health").json()

    due = CapabilityRegistration.objects.get(pk=told["registration_id"]).next_check_at
    assert due <= timezone.now()


MEMBERS = {
    "true for a priority": {"priority": True},
    "a text for a priority": {"priority": "5"},
    "a fraction for a priority": {"priority": 1.5},
    "a float for a priority": {"priority": 5.0},
    "a negative priority": {"priority": -1},
    "a priority of 1001": {"priority": 1001},
    "null for a priority": {"priority": None},
    "a list for a priority": {"priority": [1]},
    "a list for metadata": {"metadata": ["a"]},
    "a text for metadata": {"metadata": "a"},
    "a number for metadata": {"metadata": 1},
    "null for metadata": {"metadata": None},
    "NUL in metadata": {"metadata": {"a": "\0"}},
    "a number for a version": {"version": 1},
    "null for a version": {"version": None},
    "endless metadata": {"metadata": {"a": "x" * 65_536}},
    "a number for a URL": {"health_check_url": 5},
    "an unknown member": {"colour": "red"},
    "a member that is only told": {"registered_at": "2026-01-01T00:00:00Z"},
    **{f"the URL {ascii(url)[:40]}": {"health_check_url": url} for url in NO_URLS},
}


@pytest.mark.parametrize("members", MEMBERS.values(), ids=MEMBERS.keys())
def test_a_bad_member_is_refused_when_registering(editor, members):
    assert_error_response(register(editor, **members), 400, "INVALID_BODY")
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("members", MEMBERS.values(), ids=MEMBERS.keys())
def test_a_bad_member_is_refused_when_updating(editor, members):
    known = RegistrationFactory(priority=7)
    answer = change(editor, known, **({"priority": 8} | members))

    assert_error_response(answer, 400, "INVALID_BODY")
    known.refresh_from_db()
    assert known.priority == 7


@pytest.mark.parametrize("missing", ["agent_id", "capability"])
@pytest.mark.parametrize("value", [None, 5, True, ["a"], {"a": 1}], ids=repr)
def test_agent_and_capability_are_texts(editor, missing, value):
    answer = register(editor, **{missing: value})
    body = assert_error_response(answer, 400, "INVALID_BODY")

    assert list(body["details"]["errors"]) == [missing]


@pytest.mark.parametrize(
    ("empty", "code"),
    [("agent_id", "INVALID_AGENT_ID"), ("capability", "INVALID_CAPABILITY_NAME")],
)
def test_an_empty_name_is_not_valid(editor, empty, code):
    assert_error_response(register(editor, **{empty: ""}), 400, code)


def test_agent_and_capability_are_needed(editor):
    body = assert_error_response(
        editor.post(REGISTRY, {}, format="json"), 400, "INVALID_BODY"
    )

    assert set(body["details"]["errors"]) == {"agent_id", "capability"}


@pytest.mark.parametrize("raw", ["", "{", "[]", "null", '"a"', '{"priority": NaN}'])
def test_a_body_that_is_no_object_is_refused(editor, raw):
    json = "application/json"
    answers = [
        editor.post(REGISTRY, raw, content_type=json),
        editor.put(f"{REGISTRY}/{RegistrationFactory().pk}", raw, content_type=json),
    ]

    for answer in answers:
        assert_error_response(answer, 400, "INVALID_BODY")


def test_no_other_type_of_body_is_taken(editor):
    answer = editor.post(REGISTRY, {"agent_id": "a"}, format="multipart")

    assert_error_response(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_writes_take_no_parameters(editor):
    known = RegistrationFactory()
    answers = [
        editor.post(f"{REGISTRY}?force=true", {}, format="json"),
        editor.put(f"{REGISTRY}/{known.pk}?force=true", {"priority": 1}, format="json"),
        unregister(editor, known, "?force=true"),
        unregister(editor, known, "?drain=yes"),
    ]

    for answer in answers:
        assert_error_response(answer, 400, "INVALID_PARAMETER")
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
def test_an_update_changes_what_it_names_and_nothing_else(editor, changes):
    known = RegistrationFactory(metadata={"a": 1})
    before = change(editor, known, priority=50).json()
    after = change(editor, known, **changes).json()

    times = ("updated_at", "last_updated")
    expected = before | changes | {name: after[name] for name in times}
    assert after == expected


def test_true_is_not_one(editor):
    known = RegistrationFactory(metadata={"gpu": 1})

    assert (
        change(editor, known, metadata={"gpu": True}).json()["metadata"]["gpu"] is True
    )


def test_an_update_tells_when_it_was(editor):
    long_ago = timezone.now() - timedelta(days=1)
    known = RegistrationFactory(registered_at=long_ago, updated_at=long_ago)
    told = change(editor, known, priority=3).json()

    assert told["registered_at"] < told["updated_at"] == told["last_updated"]


def test_an_empty_url_takes_the_health_check_away(editor):
    known = RegistrationFactory(health_check_url="/health")

    assert change(editor, known, health_check_url="").json()["health_check_url"] is None


def test_another_url_forgets_what_the_old_one_said(editor):
    known = RegistrationFactory(
        health_check_url="/old",
        next_check_at=timezone.now(),
        check_state=Status.OFFLINE,
        check_failures=3,
        checked_at=timezone.now(),
    )
    told = change(editor, known, health_check_url="/new").json()

    assert (told["status"], told["last_health_check"]) == ("active", None)


def test_an_update_of_nothing_is_refused(editor):
    assert_error_response(change(editor, RegistrationFactory()), 400, "INVALID_BODY")


@pytest.mark.parametrize("name", ["agent_id", "capability"])
def test_whose_offer_it_is_never_changes(editor, name):
    known = RegistrationFactory(capability="web-search")
    answer = change(editor, known, priority=1, **{name: "data-analysis"})

    body = assert_error_response(answer, 400, "INVALID_BODY")
    assert body["error"] == f"{name} cannot be changed"
    same = change(editor, known, priority=1, **{name: getattr(known, name)})
    assert same.json()["priority"] == 1


@pytest.mark.parametrize("status", ["active", "inactive", "draining"])
def test_a_status_can_be_set(editor, status):
    assert change(editor, RegistrationFactory(), status=status).json()["status"] == (
        status
    )


@pytest.mark.parametrize("status", ["unhealthy", "healthy", "Active", "", None, True])
def test_no_other_status_can(editor, status):
    answer = change(editor, RegistrationFactory(), status=status)
    body = assert_error_response(answer, 400, "INVALID_BODY")

    assert list(body["details"]["errors"]) == ["status"]


@pytest.mark.parametrize("status", ["inactive", "draining"])
def test_who_is_set_aside_gets_no_traffic_until_active_again(editor, status):
    known = RegistrationFactory()
    change(editor, known, status=status)
    aside = find(editor)
    change(editor, known, status="active")

    assert (aside["providers"], aside["total_providers"]) == ([], 1)
    assert aside["healthy_providers"] == 0
    assert find(editor)["providers"][0]["registration_id"] == known.pk


def test_a_new_priority_counts_at_once(editor):
    first, second = RegistrationFactory(priority=60), RegistrationFactory()
    change(editor, second, priority=70)

    order = [one["registration_id"] for one in find(editor)["providers"]]
    assert order == [second.pk, first.pk]


@pytest.mark.parametrize("key", ["cap-reg-0000000000000000", "data-analysis", "%00"])
def test_an_unknown_registration_is_not_found(editor, key):
    RegistrationFactory()
    answer = editor.put(f"{REGISTRY}/{key}", {"priority": 1}, format="json")

    assert_error_response(answer, 404, "REGISTRATION_NOT_FOUND")


# Unregistering


@pytest.mark.parametrize("name", ["agent_id", "agent_key"])
def test_an_offer_is_taken_back_and_can_be_made_again(editor, name):
    known = RegistrationFactory()
    other = RegistrationFactory()
    agent_id = known.agent_id if name == "agent_id" else known.entry.agent_key
    answer = editor.delete(f"{REGISTRY}/{agent_id}/data-analysis")

    assert answer.status_code == 204
    assert CapabilityRegistration.objects.get() == other
    assert register(editor, known.entry).status_code == 201


def test_an_offer_taken_back_twice_is_not_found(editor):
    known = RegistrationFactory()
    unregister(editor, known)
    body = assert_error_response(
        unregister(editor, known), 404, "REGISTRATION_NOT_FOUND"
    )

    told = {"agent_id": known.agent_id, "capability": "data-analysis"}
    assert body["details"] == told


def test_no_capability_is_called_health_and_so_none_is_found(editor):
    known = RegistrationFactory()
    answer = editor.delete(f"{REGISTRY}/{known.agent_id}/health")

    assert_error_response(answer, 404, "REGISTRATION_NOT_FOUND")


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:8000/",
        "https://[::1]/",
        "http://metadata.google.internal/",
    ],
)
def test_a_health_check_that_leads_inside_is_refused_at_once(editor, url):
    answer = register(editor, health_check_url=url)
    body = assert_error_response(answer, 400, "INVALID_BODY")

    assert "public address" in str(body["details"])


def test_one_in_a_network_that_is_allowed_is_not(editor, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK

    assert register(editor, health_check_url="http://127.0.0.1/").status_code == 201


@pytest.mark.parametrize("agent_id", [uuid4(), "nobody", "%00", "x" * 300])
def test_an_offer_of_an_unknown_agent_cannot_be_taken_back(editor, agent_id):
    answer = editor.delete(f"{REGISTRY}/{agent_id}/data-analysis")

    assert_error_response(answer, 404, "AGENT_NOT_FOUND")


@pytest.mark.parametrize("name", ["web-search", "No-Name", "%00", "x" * 300])
def test_an_offer_never_made_cannot_be_taken_back(editor, name):
    answer = editor.delete(f"{REGISTRY}/{RegistrationFactory().agent_id}/{name}")

    assert_error_response(answer, 404, "REGISTRATION_NOT_FOUND")


def test_an_agent_takes_its_offers_with_it(admin):
    known = RegistrationFactory()
    admin.delete(f"/api/v1/catalog/{known.entry_id}")

    assert not CapabilityRegistration.objects.exists()


# Draining


def drain_time_is_over():
    over = timezone.now() - timedelta(seconds=1)
    CapabilityRegistration.objects.update(drain_until=over)


def test_draining_takes_traffic_away_at_once(editor):
    drained = RegistrationFactory(priority=1000)
    stays = RegistrationFactory(priority=1)
    answer = unregister(editor, drained, "?drain=true")

    told = find(editor, "include_unhealthy=true")
    statuses = [(p["registration_id"], p["status"]) for p in told["providers"]]
    assert (answer.status_code, answer.content) == (204, b"")
    assert statuses == [(stays.pk, "active"), (drained.pk, "draining")]
    assert (told["total_providers"], told["healthy_providers"]) == (2, 1)
    assert [p["registration_id"] for p in find(editor)["providers"]] == [stays.pk]


STRATEGIES = ["priority", "load_balance", "least_loaded", "fastest_response"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_drains_is_never_first(editor, strategy):
    drained = RegistrationFactory(priority=1000, response_time_avg_ms=1)
    stays = RegistrationFactory(priority=0)
    unregister(editor, drained, "?drain=true")
    query = f"routing_strategy={strategy}&include_unhealthy=true"
    firsts = {find(editor, query)["providers"][0]["agent_id"] for _ in range(10)}

    assert firsts == {stays.agent_id}


def test_draining_ends_after_the_time_that_is_set(editor, settings):
    settings.AGENTLENS_DRAIN_SECONDS = 5
    drained = RegistrationFactory()
    unregister(editor, drained, "?drain=true")

    drained.refresh_from_db()
    assert timedelta(0) < drained.drain_until - timezone.now() <= timedelta(seconds=5)
    assert remove_drained() == 0
    drain_time_is_over()
    assert remove_drained() == 1
    assert not CapabilityRegistration.objects.exists()


def test_who_has_drained_is_seen_nowhere_even_before_it_is_swept(editor):
    drained = RegistrationFactory()
    unregister(editor, drained, "?drain=true")
    drain_time_is_over()
    report = {"load_score": 0.5}
    gone = "CAPABILITY_NOT_FOUND", "REGISTRATION_NOT_FOUND"

    assert editor.get(REGISTRY).json()["total"] == 0
    assert editor.get(f"{REGISTRY}/health").json()["capabilities"] == []
    assert_error_response(editor.get(f"{REGISTRY}/data-analysis"), 404, gone[0])
    assert_error_response(editor.get(f"{REGISTRY}/data-analysis/health"), 404, gone[0])
    assert_error_response(change(editor, drained, priority=1), 404, gone[1])
    assert_error_response(unregister(editor, drained), 404, gone[1])
    place = f"{REGISTRY}/{drained.pk}/reports"
    assert_error_response(editor.post(place, report, format="json"), 404, gone[1])
    assert CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("is_deleted", [False, True])
def test_who_has_drained_can_be_registered_again(editor, is_deleted):
    drained = RegistrationFactory()
    unregister(editor, drained, "?drain=true")
    drain_time_is_over()
    if is_deleted:
        remove_drained()
    answer = register(editor, drained.entry)

    assert answer.status_code == 201
    assert answer.json()["registration_id"] != drained.pk


def test_who_still_drains_cannot(editor):
    drained = RegistrationFactory()
    unregister(editor, drained, "?drain=true")

    assert_error_response(
        register(editor, drained.entry), 409, "DUPLICATE_REGISTRATION"
    )


def test_draining_can_be_called_off(editor):
    drained = RegistrationFactory()
    unregister(editor, drained, "?drain=true")
    told = change(editor, drained, status="active").json()

    drained.refresh_from_db()
    assert (told["status"], drained.drain_until) == ("active", None)


def test_asking_again_to_drain_does_not_put_off_the_end(editor):
    drained = RegistrationFactory()
    unregister(editor, drained, "?drain=true")
    drained.refresh_from_db()
    first = drained.drain_until
    unregister(editor, drained, "?drain=true")

    drained.refresh_from_db()
    assert drained.drain_until == first


def test_drain_false_removes_at_once(editor):
    unregister(editor, RegistrationFactory(), "?drain=false")

    assert not CapabilityRegistration.objects.exists()


# Who may


def writes(client, known) -> list:
    report = {"load_score": 0.5}
    return [
        register(client),
        change(client, known, priority=1),
        client.post(f"{REGISTRY}/{known.pk}/reports", report, format="json"),
        unregister(client, known),
    ]


def reads(client) -> list:
    places = ["", "/health", "/data-analysis", "/data-analysis/health"]
    return [client.get(REGISTRY + place) for place in places]


@pytest.mark.parametrize("role", ["Editor", "Admin"])
def test_an_editor_writes(client_for, role):
    answers = writes(client_for(role), RegistrationFactory())

    assert [answer.status_code for answer in answers] == [201, 200, 204, 204]


def test_a_viewer_reads_and_does_not_write(viewer):
    known = RegistrationFactory()

    assert [answer.status_code for answer in reads(viewer)] == [200] * 4
    for answer in writes(viewer, known):
        assert_error_response(answer, 403, "PERMISSION_DENIED")
    assert CapabilityRegistration.objects.get().priority == 50


def test_nobody_does_either():
    known = RegistrationFactory()
    stranger = APIClient()

    for answer in [*reads(stranger), *writes(stranger, known)]:
        assert_error_response(answer, 401, "NOT_AUTHENTICATED")


def test_anonymous_reading_opens_reads_and_nothing_else(settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    known = RegistrationFactory()
    stranger = APIClient()

    assert [answer.status_code for answer in reads(stranger)] == [200] * 4
    for answer in writes(stranger, known):
        assert_error_response(answer, 401, "NOT_AUTHENTICATED")


@pytest.mark.parametrize(
    ("method", "place"),
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
def test_no_other_method_is_answered(admin, method, place):
    answer = admin.generic(method, REGISTRY + place)

    assert_error_response(answer, 405, "METHOD_NOT_ALLOWED")


# At once


def register_in_thread(secret: str, agent_id: str) -> int:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    body = {"agent_id": agent_id, "capability": "data-analysis"}
    try:
        return client.post(REGISTRY, body, format="json").status_code
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_of_twenty_at_once_one_is_registered_and_nineteen_are_told_so():
    _, secret = AuthToken.objects.create(UserFactory(role="Editor"))
    agent_id = str(CatalogEntryFactory().pk)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(register_in_thread, secret, agent_id) for _ in range(20)]
        answers = [one.result() for one in asked]

    assert sorted(answers) == [201] + [409] * 19
    assert CapabilityRegistration.objects.count() == 1


def churn_in_thread(secret, agent_id):
    """Register and take back the same as others do, again and again."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    body = {"agent_id": agent_id, "capability": "data-analysis"}
    answers = []
    try:
        for _ in range(10):
            made = client.post(REGISTRY, body, format="json")
            gone = client.delete(f"{REGISTRY}/{agent_id}/data-analysis")
            answers.append((made.status_code, gone.status_code))
    finally:
        connections.close_all()
    return answers


@pytest.mark.django_db(transaction=True)
def test_who_registers_while_others_come_and_go_is_told_one_or_the_other():
    _, secret = AuthToken.objects.create(UserFactory(role="Editor"))
    agent_id = str(CatalogEntryFactory().pk)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(churn_in_thread, secret, agent_id) for _ in range(8)]
        answers = [pair for one in asked for pair in one.result()]

    assert {made for made, _ in answers} <= {201, 409}
    assert {gone for _, gone in answers} <= {204, 404}


@pytest.mark.django_db(transaction=True)
def test_of_twenty_at_once_one_takes_the_place_of_who_has_drained():
    _, secret = AuthToken.objects.create(UserFactory(role="Editor"))
    drained = RegistrationFactory(intent="draining", drain_until=timezone.now())
    with ThreadPoolExecutor(20) as pool:
        arguments = [secret] * 20, [drained.agent_id] * 20
        answers = list(pool.map(register_in_thread, *arguments))

    assert sorted(answers) == [201] + [409] * 19
    assert CapabilityRegistration.objects.get() != drained
