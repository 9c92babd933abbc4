"""POST /capabilities/{registration_id}/reports: what callers saw."""

from datetime import timedelta

import pytest
from django.db.models import F

from routing.models import CapabilityRegistration, RequestSecond
from tests.api_errors import assert_error_response
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"
GAUGES = {"concurrent_requests": 3, "queue_depth": 7, "load_score": 0.25}


def report(client, registration, *times: int | None, not_ok: int = 0, **members):
    """These response times, of which the first so many were failures."""
    outcomes = [
        {"ok": n >= not_ok, "response_time_ms": took} for n, took in enumerate(times)
    ]
    body = ({"outcomes": outcomes} if outcomes else {}) | members
    place = f"{REGISTRY}/{registration.pk}/reports"
    return client.post(place, body, format="json")


def age_gauges(by) -> None:
    times = {f"{name}_at": F(f"{name}_at") - by for name in GAUGES}
    CapabilityRegistration.objects.update(**times)


def metrics(client) -> dict:
    (provider,) = client.get(f"{REGISTRY}/data-analysis").json()["providers"]
    return provider["performance_metrics"]


def listed(client) -> dict:
    (capability,) = client.get(REGISTRY).json()["capabilities"]
    (provider,) = capability["providers"]
    return provider


def test_a_report_is_taken_in_without_a_word(editor):
    answer = report(editor, RegistrationFactory(), 120, **GAUGES)

    assert (answer.status_code, answer.content) == (204, b"")


def test_before_any_report_nothing_is_known(editor):
    RegistrationFactory()

    assert metrics(editor) == {
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


def test_figures_are_those_of_the_requests(editor):
    one = RegistrationFactory()
    times = [100 * n for n in range(1, 101)]
    report(editor, one, *times, not_ok=5, **GAUGES)

    assert metrics(editor) == {
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
    flat = ("load_score", "response_time_avg", "success_rate")
    assert [listed(editor)[name] for name in flat] == [0.25, "5.0s", 0.95]


def test_reports_add_up(editor):
    one = RegistrationFactory()
    for times in ([1000], [2000, 3000], [2000]):
        report(editor, one, *times, not_ok=len(times) - 1)

    told = metrics(editor)
    assert (told["response_time_avg"], told["success_rate"]) == ("2.0s", 0.75)
    assert told["requests_per_minute"] == told["requests_last_hour"] == 4


def test_only_the_last_thousand_requests_count(editor):
    one = RegistrationFactory()
    report(editor, one, *[9000] * 1000, not_ok=1000)
    report(editor, one, *[1000] * 999)
    mixed = metrics(editor)
    report(editor, one, 1000)

    assert mixed["success_rate"] == 0.999
    told = metrics(editor)
    assert (told["success_rate"], told["response_time_p99"]) == (1.0, "1.0s")
    assert told["requests_last_hour"] == 2000


def test_a_request_without_a_response_time_still_counts(editor):
    one = RegistrationFactory()
    outcomes = [{"ok": True, "response_time_ms": 1000}, {"ok": False}]
    outcomes.append({"ok": False, "response_time_ms": None})
    report(editor, one, outcomes=outcomes)

    told = metrics(editor)
    assert (told["response_time_avg"], told["success_rate"]) == ("1.0s", 0.3333)
    assert told["error_rate"] == 0.6667


def test_an_instant_answer_is_an_answer(editor):
    one = RegistrationFactory()
    report(editor, one, 0)

    assert metrics(editor)["response_time_avg"] == "0.0s"


@pytest.mark.parametrize(
    ("seconds", "minute", "hour"),
    [(30, 2, 2), (57, 2, 2), (62, 0, 2), (3597, 0, 2), (3602, 0, 0)],
)
def test_requests_are_counted_by_the_minute_and_the_hour(editor, seconds, minute, hour):
    one = RegistrationFactory()
    report(editor, one, 100, 100)
    RequestSecond.objects.update(second=F("second") - seconds)

    told = metrics(editor)
    counts = told["requests_per_minute"], told["requests_last_hour"]
    assert counts == (minute, hour)
    assert told["success_rate"] == 1.0


@pytest.mark.parametrize("name", GAUGES)
def test_a_gauge_can_be_told_alone(editor, name):
    one = RegistrationFactory()
    report(editor, one, **{name: GAUGES[name]})

    expected = dict.fromkeys(GAUGES) | {name: GAUGES[name]}
    assert {gauge: metrics(editor)[gauge] for gauge in GAUGES} == expected


def test_the_last_word_on_a_gauge_counts(editor):
    one = RegistrationFactory()
    report(editor, one, load_score=0.9)
    report(editor, one, load_score=0.0)

    assert metrics(editor)["load_score"] == 0.0


def test_a_gauge_can_be_taken_back(editor):
    one = RegistrationFactory()
    report(editor, one, load_score=0.9)
    report(editor, one, load_score=None)

    assert metrics(editor)["load_score"] is None


def test_gauges_expire_and_figures_stay(editor, settings):
    one = RegistrationFactory()
    report(editor, one, 1000, **GAUGES)
    old = timedelta(seconds=settings.AGENTLENS_GAUGE_LIFETIME + 1)
    age_gauges(old)

    told = metrics(editor)
    assert {name: told[name] for name in GAUGES} == dict.fromkeys(GAUGES)
    assert told["response_time_avg"] == "1.0s"
    assert listed(editor)["load_score"] is None


def test_how_long_gauges_hold_is_a_setting(editor, settings):
    one = RegistrationFactory()
    report(editor, one, **GAUGES)
    settings.AGENTLENS_GAUGE_LIFETIME = 0

    assert metrics(editor)["load_score"] is None


def test_one_gauge_told_again_does_not_renew_the_others(editor, settings):
    one = RegistrationFactory()
    report(editor, one, **GAUGES)
    old = timedelta(seconds=settings.AGENTLENS_GAUGE_LIFETIME + 1)
    age_gauges(old / 2)
    report(editor, one, queue_depth=1)
    age_gauges(old / 2)

    told = metrics(editor)
    assert (told["queue_depth"], told["load_score"]) == (1, None)


def test_a_time_may_be_finer_than_we_keep_it(editor):
    one = RegistrationFactory()
    assert report(editor, one, 1049.6).status_code == 204

    assert metrics(editor)["response_time_avg"] == "1.1s"


def test_a_load_that_expired_no_longer_lowers_the_score(editor, settings):
    one = RegistrationFactory(priority=100)
    report(editor, one, load_score=0.5)
    place = f"{REGISTRY}/data-analysis"
    busy = editor.get(place).json()["providers"][0]["routing_score"]
    settings.AGENTLENS_GAUGE_LIFETIME = 0

    assert busy == 50
    assert editor.get(place).json()["providers"][0]["routing_score"] == 100


def test_a_report_says_nothing_of_health_nor_changes_the_registration(editor):
    one = RegistrationFactory()
    report(editor, one, *[None] * 10, not_ok=10)

    assert listed(editor)["status"] == "active"
    before = one.updated_at
    one.refresh_from_db()
    assert one.updated_at == before


def test_a_thousand_outcomes_are_taken_and_one_more_is_not(editor):
    one = RegistrationFactory()

    assert report(editor, one, *[100] * 1000).status_code == 204
    assert_error_response(report(editor, one, *[100] * 1001), 400, "INVALID_BODY")
    assert metrics(editor)["requests_last_hour"] == 1000


BODIES = {
    "nothing": {},
    "no outcomes": {"outcomes": []},
    "outcomes in an object": {"outcomes": {"ok": True}},
    "null for outcomes": {"outcomes": None},
    "an outcome that is none": {"outcomes": [True]},
    "an outcome without ok": {"outcomes": [{"response_time_ms": 1}]},
    "a text for ok": {"outcomes": [{"ok": "true"}]},
    "a number for ok": {"outcomes": [{"ok": 1}]},
    "null for ok": {"outcomes": [{"ok": None}]},
    "a text for a time": {"outcomes": [{"ok": True, "response_time_ms": "1"}]},
    "a negative time": {"outcomes": [{"ok": True, "response_time_ms": -1}]},
    "true for a time": {"outcomes": [{"ok": True, "response_time_ms": True}]},
    "an endless time": {"outcomes": [{"ok": True, "response_time_ms": 2**40}]},
    "an unknown member of an outcome": {"outcomes": [{"ok": True, "colour": 1}]},
    "one bad outcome of two": {"outcomes": [{"ok": True}, {"ok": 0}]},
    "an unknown member": {"load_score": 0.1, "colour": 1},
    "a load above one": {"load_score": 1.01},
    "a load below none": {"load_score": -0.1},
    "a text for a load": {"load_score": "0.5"},
    "true for a load": {"load_score": True},
    "a negative queue": {"queue_depth": -1},
    "half a request": {"concurrent_requests": 0.5},
    "an endless queue": {"queue_depth": 10**12},
    "a text for a queue": {"queue_depth": "1"},
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_bad_report_is_refused_and_nothing_of_it_is_kept(editor, body):
    one = RegistrationFactory()
    before = metrics(editor)
    answer = editor.post(f"{REGISTRY}/{one.pk}/reports", body, format="json")

    assert_error_response(answer, 400, "INVALID_BODY")
    assert metrics(editor) == before


@pytest.mark.parametrize("load_score", [0, 1, 0.0, 1.0, 0.123456])
def test_a_load_is_from_none_to_one(editor, load_score):
    report(editor, RegistrationFactory(), load_score=load_score)

    assert metrics(editor)["load_score"] == load_score


@pytest.mark.parametrize("key", ["cap-reg-0000000000000000", "data-analysis", "%00"])
def test_an_unknown_registration_is_not_found(editor, key):
    RegistrationFactory()
    place = f"{REGISTRY}/{key}/reports"
    answer = editor.post(place, {"load_score": 0.5}, format="json")

    assert_error_response(answer, 404, "REGISTRATION_NOT_FOUND")


def test_each_registration_has_figures_of_its_own(editor):
    one, other = RegistrationFactory(), RegistrationFactory(capability="web-search")
    report(editor, other, 100, **GAUGES)

    assert one.capability == "data-analysis"
    assert metrics(editor)["requests_last_hour"] == 0
