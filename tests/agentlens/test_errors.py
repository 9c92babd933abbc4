import logging

import pytest
from django.http import HttpResponse
from django.urls import path
from rest_framework.test import APIClient

from agentlens import urls as project_urls
from agentlens import views
from agentlens.request_ids import RequestIdFilter, current_request_id
from catalog.api import entries
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory, card_bytes

pytestmark = pytest.mark.django_db

NOBODY = "9f1417c9-fdb1-414a-86c2-e3e26766963d"
CATALOG = "/api/v1/catalog"
ROUTES = [
    CATALOG,
    f"{CATALOG}/00000000-0000-0000-0000-000000000000",
    "/api/v1/kinds",
    "/api/v1/stats",
]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "place",
    [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/nope",
        "/api/v1/skills",
        "/api/v2/catalog",
        "/api/v1/catalog/",
        "/api/v1/kinds/",
        "/api/v1/a%0Ab",
        "/api//v1/catalog",
    ],
)
def test_a_route_there_is_not_is_not_found(place, method):
    stranger = APIClient(enforce_csrf_checks=True)
    answer = stranger.generic(method, place, b"{}", content_type="application/json")

    if method == "HEAD":
        assert (answer.status_code, answer.content) == (404, b"")
    else:
        assert_error_response(answer, 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "place", "allow"),
    [
        ("POST", CATALOG, "GET, HEAD"),
        ("PUT", f"{CATALOG}/{NOBODY}", "GET, HEAD, PATCH, DELETE"),
        ("OPTIONS", CATALOG, "GET, HEAD"),
        ("TRACE", CATALOG, "GET, HEAD"),
        ("DELETE", CATALOG, "GET, HEAD"),
        ("GET", f"{CATALOG}/register", "POST"),
        ("POST", f"{CATALOG}/{NOBODY}/card", "GET, HEAD"),
        ("POST", "/api/v1/kinds", "GET, HEAD"),
        ("DELETE", "/api/v1/stats", "GET, HEAD"),
        ("NONSENSE", "/api/v1/stats", "GET, HEAD"),
    ],
)
def test_a_method_there_is_not_is_told_those_there_are(admin, method, place, allow):
    answer = admin.generic(method, place)

    assert_error_response(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer["Allow"] == allow


def test_a_media_type_we_do_not_read_is_refused(editor):
    place = f"{CATALOG}/{CatalogEntryFactory().pk}"
    answer = editor.generic("PATCH", place, b"<a/>", content_type="application/xml")

    body = assert_error_response(answer, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert "application/xml" in body["error"]


def test_a_media_type_we_do_not_write_is_refused(viewer):
    answer = viewer.get(CATALOG, headers={"Accept": "application/xml"})

    assert_error_response(answer, 406, "INVALID_PARAMETER")


@pytest.mark.parametrize("place", [*ROUTES, "/api/v1/schema", "/api/v1/docs"])
def test_nobody_is_told_how_to_become_somebody(place):
    answer = APIClient().get(place)

    assert_error_response(answer, 401, "NOT_AUTHENTICATED")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_somebody_who_may_not_is_told_so(viewer):
    answer = viewer.delete(f"{CATALOG}/{CatalogEntryFactory().pk}")

    assert_error_response(answer, 403, "PERMISSION_DENIED")


def register(client):
    place = f"{CATALOG}/register"
    return client.generic("POST", place, card_bytes(), content_type="application/json")


def test_too_many_writes_are_told_when_to_come_again(client_for, settings):
    settings.AGENTLENS_WRITE_RATE = 2
    editor, other = client_for("Editor"), client_for("Editor")
    for _ in range(2):
        assert register(editor).status_code in (200, 201)
    refused = register(editor)

    assert_error_response(refused, 429, "RATE_LIMITED")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert editor.get(CATALOG).status_code == 200
    assert register(other).status_code == 200


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_every_kind_of_write_counts(admin, settings, method):
    settings.AGENTLENS_WRITE_RATE = 1
    register(admin)

    assert_error_response(getattr(admin, method)(f"{CATALOG}/x"), 429, "RATE_LIMITED")


def test_no_writes_at_all_may_be_allowed(editor, settings):
    settings.AGENTLENS_WRITE_RATE = 0
    refused = register(editor)

    assert_error_response(refused, 429, "RATE_LIMITED")
    assert int(refused["Retry-After"]) == 60


def test_writes_that_came_in_all_at_once_are_told_when_to_come_again(editor, settings):
    """More are remembered than allowed, as after a race or a lower limit."""
    for _ in range(3):
        register(editor)
    settings.AGENTLENS_WRITE_RATE = 1
    refused = register(editor)

    assert_error_response(refused, 429, "RATE_LIMITED")
    assert 1 <= int(refused["Retry-After"]) <= 60


@pytest.fixture
def _crashing(monkeypatch):
    def crash(*args):
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(entries, "counts", crash)


@pytest.fixture
def calm_viewer(viewer):
    """Gets the answer a stranger would get, not the exception itself."""
    viewer.raise_request_exception = False
    return viewer


@pytest.mark.usefixtures("_crashing")
def test_a_crash_is_told_to_the_log_and_not_to_the_caller(calm_viewer, caplog):
    answer = calm_viewer.get("/api/v1/stats", headers={"X-Request-ID": "crash-1"})

    body = assert_error_response(answer, 500, "INTERNAL_ERROR")
    assert body["request_id"] == "crash-1"
    assert "secret of ours" not in answer.content.decode()
    assert "secret of ours" in caplog.text
    (logged,) = caplog.records
    assert (logged.name, logged.levelno) == ("django.request", logging.ERROR)


@pytest.mark.usefixtures("_crashing")
def test_a_crash_in_debug_mode_has_the_same_shape(calm_viewer, settings):
    settings.DEBUG = True

    assert_error_response(calm_viewer.get("/api/v1/stats"), 500, "INTERNAL_ERROR")


@pytest.mark.usefixtures("_crashing")
def test_after_a_crash_the_next_is_served(calm_viewer):
    calm_viewer.get("/api/v1/stats")

    assert calm_viewer.get("/api/v1/kinds").status_code == 200


def test_a_host_that_is_not_ours_is_refused_in_the_same_shape(viewer):
    answer = viewer.get(CATALOG, headers={"Host": "evil.example"})

    assert_error_response(answer, 400, "INVALID_PARAMETER")


def test_pages_are_not_told_in_the_shape_of_the_api(client):
    answer = client.get("/nope")

    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("given", ["req_1", "a" * 64, "A.b-c_9"])
def test_a_plain_request_id_is_kept(viewer, given):
    answer = viewer.get(f"{CATALOG}?x=1", headers={"X-Request-ID": given})

    assert answer["X-Request-ID"] == answer.json()["request_id"] == given


@pytest.mark.parametrize(
    "given",
    [
        "",
        " ",
        "a" * 65,
        "a b",
        "a\nSet-Cookie: x",
        "<script>",
        "ł",
        "\x00",
        "a,b",
        "a\n",
    ],
)
def test_any_other_is_replaced(viewer, given):
    answer = viewer.get(f"{CATALOG}?x=1", HTTP_X_REQUEST_ID=given)

    made = answer["X-Request-ID"]
    assert made == answer.json()["request_id"]
    assert made.startswith("req_")
    assert len(made) == 20


def test_each_request_has_an_id_of_its_own(viewer):
    ids = {viewer.get(CATALOG)["X-Request-ID"] for _ in range(5)}

    assert len(ids) == 5
    assert current_request_id.get() == "-"


def test_every_log_line_carries_the_id():
    line = logging.makeLogRecord({})

    assert RequestIdFilter().filter(line)
    assert line.request_id == "-"


def test_that_somebody_elses_server_fails_is_no_error_of_ours(editor, caplog):
    answer = editor.post(
        f"{CATALOG}/import", {"url": "http://nowhere.invalid/"}, format="json"
    )

    assert answer.status_code == 502
    assert not [one for one in caplog.records if one.name == "django.request"]


def test_what_is_logged_of_an_answer_carries_the_id_of_its_request(
    viewer, caplog, monkeypatch
):
    monkeypatch.setattr(views, "database_answers", lambda: False)
    answer = viewer.get("/readyz")

    assert answer.status_code == 503
    (line,) = [one for one in caplog.records if one.name == "django.request"]
    assert RequestIdFilter().filter(line)
    assert line.request_id == answer["X-Request-ID"]


@pytest.mark.parametrize("place", [CATALOG, "/api/v1/kinds", "/api/v1/stats"])
def test_what_somebody_has_already_is_not_sent_again(viewer, place):
    CatalogEntryFactory()
    first = viewer.get(place)
    again = viewer.get(place, headers={"If-None-Match": first["ETag"]})

    assert first["ETag"].startswith('W/"')
    assert first["Cache-Control"] == "private, no-cache"
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert again["X-Request-ID"]


def test_what_changed_since_is_sent_again(viewer):
    etag = viewer.get(CATALOG)["ETag"]
    CatalogEntryFactory()
    answer = viewer.get(CATALOG, headers={"If-None-Match": etag})

    assert (answer.status_code, answer.json()["total"]) == (200, 1)
    assert answer["ETag"] != etag


def test_head_tells_the_same_without_the_body(viewer):
    got, asked = viewer.get(CATALOG), viewer.head(CATALOG)

    assert (asked.status_code, asked.content) == (200, b"")
    assert asked["ETag"] == got["ETag"]


@pytest.mark.parametrize(
    "header",
    [
        {"If-Match": '"another"'},
        {"If-Unmodified-Since": "Mon, 01 Jan 2024 00:00:00 GMT"},
        {"If-None-Match": "nonsense"},
        {"If-Modified-Since": "nonsense"},
    ],
    ids=str,
)
def test_other_conditions_do_not_keep_a_reader_out(viewer, header):
    assert viewer.get(CATALOG, headers=header).json() == {"total": 0, "items": []}


def test_errors_and_writes_carry_no_etag(editor):
    assert not editor.get(f"{CATALOG}?x=1").has_header("ETag")
    assert not register(editor).has_header("ETag")


def unkept(request):
    return HttpResponse("a decision", headers={"Cache-Control": "no-store"})


urlpatterns = [path("unkept", unkept), *project_urls.urlpatterns]


@pytest.mark.urls(__name__)
def test_what_must_not_be_kept_carries_no_etag(client):
    answer = client.get("/unkept")

    assert (answer.status_code, answer.has_header("ETag")) == (200, False)
    assert answer["Cache-Control"] == "no-store"
