"""POST /capabilities/{registration_id}/reports: what callers observed."""

from datetime import timedelta

import pytest
from django.db.models import F

from routing.models import CapabilityRegistration, RequestSecond
from tests.api_errors import assert_error_response
from tests.routing.api.requests import REGISTRY_URL
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

GAUGES = {"concurrent_requests": 3, "queue_depth": 7, "load_score": 0.25}


def send_report(client, registration, *times: int | None, failures: int = 0, **members):
    """Report requests with these times, of which the first `failures` failed."""
    outcomes = [
        {"ok": n >= failures, "response_time_ms": milliseconds}
        for n, milliseconds in enumerate(times)
    ]
    body = ({"outcomes": outcomes} if outcomes else {}) | members
    url = f"{REGISTRY_URL}/{registration.pk}/reports"
    return client.post(url, body, format="json")


def age_gauges(by) -> None:
    times = {f"{name}_at": F(f"{name}_at") - by for name in GAUGES}
    CapabilityRegistration.objects.update(**times)


def get_metrics(client) -> dict:
    (provider,) = client.get(f"{REGISTRY_URL}/data-analysis").json()["providers"]
    return provider["performance_metrics"]


def get_listed_provider(client) -> dict:
    (capability,) = client.get(REGISTRY_URL).json()["capabilities"]
    (provider,) = capability["providers"]
    return provider


def test_report_returns_204_without_content(editor_api):
    response = send_report(editor_api, RegistrationFactory(), 120, **GAUGES)

    assert (response.status_code, response.content) == (204, b"")


def test_metrics_without_reports_are_null_or_zero(editor_api):
    RegistrationFactory()

    assert get_metrics(editor_api) == {
        "response_time_avg": None,
        "response_time_p95": None,
        "response_time_p99": None,
        "load_score": None,
        "concurrent_requests": None,
        "requests_per_minute": 0,
        "queue_depth": None,
        "success_rate": None,
        "error_rate": None,
        "consecutive_failures": 0,
        "uptime_percentage": None,
        "requests_last_hour": 0,
    }


def test_metrics_are_computed_from_reported_requests(editor_api):
    registration = RegistrationFactory()
    times = [100 * n for n in range(1, 101)]
    send_report(editor_api, registration, *times, failures=5, **GAUGES)

    assert get_metrics(editor_api) == {
        "response_time_avg": "5.0s",
        "response_time_p95": "9.5s",
        "response_time_p99": "9.9s",
        "load_score": 0.25,
        "concurrent_requests": 3,
        "requests_per_minute": 100,
        "queue_depth": 7,
        "success_rate": 0.95,
        "error_rate": 0.05,
        "consecutive_failures": 0,
        "uptime_percentage": None,
        "requests_last_hour": 100,
    }
    members = ("load_score", "response_time_avg", "success_rate")
    assert [get_listed_provider(editor_api)[name] for name in members] == [
        0.25,
        "5.0s",
        0.95,
    ]


def test_metrics_cover_all_reports(editor_api):
    registration = RegistrationFactory()
    for times in ([1000], [2000, 3000], [2000]):
        send_report(editor_api, registration, *times, failures=len(times) - 1)

    metrics = get_metrics(editor_api)
    assert (metrics["response_time_avg"], metrics["success_rate"]) == ("2.0s", 0.75)
    assert metrics["requests_per_minute"] == metrics["requests_last_hour"] == 4


def test_metrics_cover_only_last_thousand_requests(editor_api):
    registration = RegistrationFactory()
    send_report(editor_api, registration, *[9000] * 1000, failures=1000)
    send_report(editor_api, registration, *[1000] * 999)
    earlier = get_metrics(editor_api)
    send_report(editor_api, registration, 1000)

    assert earlier["success_rate"] == 0.999
    metrics = get_metrics(editor_api)
    assert (metrics["success_rate"], metrics["response_time_p99"]) == (1.0, "1.0s")
    assert metrics["requests_last_hour"] == 2000


def test_request_without_response_time_counts_for_success_rate(editor_api):
    registration = RegistrationFactory()
    outcomes = [{"ok": True, "response_time_ms": 1000}, {"ok": False}]
    outcomes.append({"ok": False, "response_time_ms": None})
    send_report(editor_api, registration, outcomes=outcomes)

    metrics = get_metrics(editor_api)
    assert (metrics["response_time_avg"], metrics["success_rate"]) == ("1.0s", 0.3333)
    assert metrics["error_rate"] == 0.6667


def test_response_time_of_zero_is_accepted(editor_api):
    registration = RegistrationFactory()
    send_report(editor_api, registration, 0)

    assert get_metrics(editor_api)["response_time_avg"] == "0.0s"


@pytest.mark.parametrize(
    ("seconds", "minute", "hour"),
    [(30, 2, 2), (57, 2, 2), (62, 0, 2), (3597, 0, 2), (3602, 0, 0)],
)
def test_requests_are_counted_per_minute_and_hour(editor_api, seconds, minute, hour):
    registration = RegistrationFactory()
    send_report(editor_api, registration, 100, 100)
    RequestSecond.objects.update(second=F("second") - seconds)

    metrics = get_metrics(editor_api)
    counts = metrics["requests_per_minute"], metrics["requests_last_hour"]
    assert counts == (minute, hour)
    assert metrics["success_rate"] == 1.0


@pytest.mark.parametrize("name", GAUGES)
def test_gauge_can_be_reported_alone(editor_api, name):
    registration = RegistrationFactory()
    send_report(editor_api, registration, **{name: GAUGES[name]})

    expected = dict.fromkeys(GAUGES) | {name: GAUGES[name]}
    assert {gauge: get_metrics(editor_api)[gauge] for gauge in GAUGES} == expected


def test_last_reported_gauge_applies(editor_api):
    registration = RegistrationFactory()
    send_report(editor_api, registration, load_score=0.9)
    send_report(editor_api, registration, load_score=0.0)

    assert get_metrics(editor_api)["load_score"] == 0.0


def test_gauge_can_be_cleared_with_null(editor_api):
    registration = RegistrationFactory()
    send_report(editor_api, registration, load_score=0.9)
    send_report(editor_api, registration, load_score=None)

    assert get_metrics(editor_api)["load_score"] is None


def test_gauges_expire_and_request_metrics_remain(editor_api, settings):
    registration = RegistrationFactory()
    send_report(editor_api, registration, 1000, **GAUGES)
    age = timedelta(seconds=settings.AGENTLENS_GAUGE_LIFETIME + 1)
    age_gauges(age)

    metrics = get_metrics(editor_api)
    assert {name: metrics[name] for name in GAUGES} == dict.fromkeys(GAUGES)
    assert metrics["response_time_avg"] == "1.0s"
    assert get_listed_provider(editor_api)["load_score"] is None


def test_gauge_lifetime_is_a_setting(editor_api, settings):
    registration = RegistrationFactory()
    send_report(editor_api, registration, **GAUGES)
    settings.AGENTLENS_GAUGE_LIFETIME = 0

    assert get_metrics(editor_api)["load_score"] is None


def test_reporting_one_gauge_does_not_renew_others(editor_api, settings):
    registration = RegistrationFactory()
    send_report(editor_api, registration, **GAUGES)
    age = timedelta(seconds=settings.AGENTLENS_GAUGE_LIFETIME + 1)
    age_gauges(age / 2)
    send_report(editor_api, registration, queue_depth=1)
    age_gauges(age / 2)

    metrics = get_metrics(editor_api)
    assert (metrics["queue_depth"], metrics["load_score"]) == (1, None)


def test_fractional_response_time_is_rounded(editor_api):
    registration = RegistrationFactory()
    assert send_report(editor_api, registration, 1049.6).status_code == 204

    assert get_metrics(editor_api)["response_time_avg"] == "1.1s"


def test_expired_load_does_not_lower_routing_score(editor_api, settings):
    registration = RegistrationFactory(priority=100)
    send_report(editor_api, registration, load_score=0.5)
    url = f"{REGISTRY_URL}/data-analysis"
    busy = editor_api.get(url).json()["providers"][0]["routing_score"]
    settings.AGENTLENS_GAUGE_LIFETIME = 0

    assert busy == 50
    assert editor_api.get(url).json()["providers"][0]["routing_score"] == 100


def test_report_changes_neither_health_nor_registration(editor_api):
    registration = RegistrationFactory()
    send_report(editor_api, registration, *[None] * 10, failures=10)

    assert get_listed_provider(editor_api)["status"] == "active"
    before = registration.updated_at
    registration.refresh_from_db()
    assert registration.updated_at == before


def test_report_accepts_at_most_thousand_outcomes(editor_api):
    registration = RegistrationFactory()

    assert send_report(editor_api, registration, *[100] * 1000).status_code == 204
    assert_error_response(
        send_report(editor_api, registration, *[100] * 1001), 400, "INVALID_BODY"
    )
    assert get_metrics(editor_api)["requests_last_hour"] == 1000


INVALID_BODIES = {
    "empty object": {},
    "no outcomes": {"outcomes": []},
    "object for outcomes": {"outcomes": {"ok": True}},
    "null for outcomes": {"outcomes": None},
    "outcome that is not an object": {"outcomes": [True]},
    "outcome without ok": {"outcomes": [{"response_time_ms": 1}]},
    "string for ok": {"outcomes": [{"ok": "true"}]},
    "number for ok": {"outcomes": [{"ok": 1}]},
    "null for ok": {"outcomes": [{"ok": None}]},
    "string response time": {"outcomes": [{"ok": True, "response_time_ms": "1"}]},
    "negative response time": {"outcomes": [{"ok": True, "response_time_ms": -1}]},
    "boolean response time": {"outcomes": [{"ok": True, "response_time_ms": True}]},
    "response time too large": {"outcomes": [{"ok": True, "response_time_ms": 2**40}]},
    "unknown member of an outcome": {"outcomes": [{"ok": True, "color": 1}]},
    "one invalid outcome of two": {"outcomes": [{"ok": True}, {"ok": 0}]},
    "unknown member": {"load_score": 0.1, "color": 1},
    "load above one": {"load_score": 1.01},
    "negative load": {"load_score": -0.1},
    "string load": {"load_score": "0.5"},
    "boolean load": {"load_score": True},
    "negative queue depth": {"queue_depth": -1},
    "fractional request count": {"concurrent_requests": 0.5},
    "queue depth too large": {"queue_depth": 10**12},
    "string queue depth": {"queue_depth": "1"},
}


@pytest.mark.parametrize("body", INVALID_BODIES.values(), ids=INVALID_BODIES.keys())
def test_invalid_report_returns_400_and_stores_nothing(editor_api, body):
    registration = RegistrationFactory()
    before = get_metrics(editor_api)
    response = editor_api.post(
        f"{REGISTRY_URL}/{registration.pk}/reports", body, format="json"
    )

    assert_error_response(response, 400, "INVALID_BODY")
    assert get_metrics(editor_api) == before


@pytest.mark.parametrize("load_score", [0, 1, 0.0, 1.0, 0.123456])
def test_load_score_from_zero_to_one_is_accepted(editor_api, load_score):
    send_report(editor_api, RegistrationFactory(), load_score=load_score)

    assert get_metrics(editor_api)["load_score"] == load_score


@pytest.mark.parametrize("key", ["cap-reg-0000000000000000", "data-analysis", "%00"])
def test_report_for_unknown_registration_returns_404(editor_api, key):
    RegistrationFactory()
    url = f"{REGISTRY_URL}/{key}/reports"
    response = editor_api.post(url, {"load_score": 0.5}, format="json")

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")


def test_metrics_belong_to_one_registration(editor_api):
    registration, other = (
        RegistrationFactory(),
        RegistrationFactory(capability="web-search"),
    )
    send_report(editor_api, other, 100, **GAUGES)

    assert registration.capability == "data-analysis"
    assert get_metrics(editor_api)["requests_last_hour"] == 0
