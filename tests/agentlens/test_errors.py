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

UNKNOWN_ID = "9f1417c9-fdb1-414a-86c2-e3e26766963d"
CATALOG = "/api/v1/catalog"
ROUTES = [
    CATALOG,
    f"{CATALOG}/00000000-0000-0000-0000-000000000000",
    "/api/v1/kinds",
    "/api/v1/stats",
]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "url",
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
def test_unknown_api_path_returns_404(url, method):
    client = APIClient(enforce_csrf_checks=True)
    response = client.generic(method, url, b"{}", content_type="application/json")

    if method == "HEAD":
        assert (response.status_code, response.content) == (404, b"")
    else:
        assert_error_response(response, 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "url", "allow"),
    [
        ("POST", CATALOG, "GET, HEAD"),
        ("PUT", f"{CATALOG}/{UNKNOWN_ID}", "GET, HEAD, PATCH, DELETE"),
        ("OPTIONS", CATALOG, "GET, HEAD"),
        ("TRACE", CATALOG, "GET, HEAD"),
        ("DELETE", CATALOG, "GET, HEAD"),
        ("GET", f"{CATALOG}/register", "POST"),
        ("POST", f"{CATALOG}/{UNKNOWN_ID}/card", "GET, HEAD"),
        ("POST", "/api/v1/kinds", "GET, HEAD"),
        ("DELETE", "/api/v1/stats", "GET, HEAD"),
        ("NONSENSE", "/api/v1/stats", "GET, HEAD"),
    ],
)
def test_unsupported_method_returns_405_with_allow_header(
    admin_api, method, url, allow
):
    response = admin_api.generic(method, url)

    assert_error_response(response, 405, "METHOD_NOT_ALLOWED")
    assert response["Allow"] == allow


def test_unsupported_content_type_returns_415(editor_api):
    url = f"{CATALOG}/{CatalogEntryFactory().pk}"
    response = editor_api.generic("PATCH", url, b"<a/>", content_type="application/xml")

    body = assert_error_response(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert "application/xml" in body["error"]


def test_unsupported_accept_header_returns_406(viewer_api):
    response = viewer_api.get(CATALOG, headers={"Accept": "application/xml"})

    assert_error_response(response, 406, "INVALID_PARAMETER")


@pytest.mark.parametrize("url", [*ROUTES, "/api/v1/schema", "/api/v1/docs"])
def test_anonymous_request_returns_401_with_bearer_challenge(url):
    response = APIClient().get(url)

    assert_error_response(response, 401, "NOT_AUTHENTICATED")
    assert response["WWW-Authenticate"] == "Bearer"


def test_request_without_permission_returns_403(viewer_api):
    response = viewer_api.delete(f"{CATALOG}/{CatalogEntryFactory().pk}")

    assert_error_response(response, 403, "PERMISSION_DENIED")


def register(client):
    url = f"{CATALOG}/register"
    return client.generic("POST", url, card_bytes(), content_type="application/json")


def test_write_above_rate_returns_429_for_that_user_only(api_client_for_role, settings):
    settings.AGENTLENS_WRITE_RATE = 2
    editor, other_editor = api_client_for_role("Editor"), api_client_for_role("Editor")
    for _ in range(2):
        assert register(editor).status_code in (200, 201)
    response = register(editor)

    assert_error_response(response, 429, "RATE_LIMITED")
    assert 1 <= int(response["Retry-After"]) <= 60
    assert editor.get(CATALOG).status_code == 200
    assert register(other_editor).status_code == 200


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_patch_and_delete_count_as_writes(admin_api, settings, method):
    settings.AGENTLENS_WRITE_RATE = 1
    register(admin_api)

    assert_error_response(
        getattr(admin_api, method)(f"{CATALOG}/x"), 429, "RATE_LIMITED"
    )


def test_write_rate_zero_rejects_every_write(editor_api, settings):
    settings.AGENTLENS_WRITE_RATE = 0
    response = register(editor_api)

    assert_error_response(response, 429, "RATE_LIMITED")
    assert int(response["Retry-After"]) == 60


def test_retry_after_is_valid_when_more_writes_are_counted_than_allowed(
    editor_api, settings
):
    """More writes than allowed are counted after a race or when the rate is lowered."""
    for _ in range(3):
        register(editor_api)
    settings.AGENTLENS_WRITE_RATE = 1
    response = register(editor_api)

    assert_error_response(response, 429, "RATE_LIMITED")
    assert 1 <= int(response["Retry-After"]) <= 60


@pytest.fixture
def _failing_stats(monkeypatch):
    def raise_error(*args):
        raise RuntimeError("internal detail")

    monkeypatch.setattr(entries, "count_by", raise_error)


@pytest.fixture
def viewer_without_exceptions(viewer_api):
    """Return a client that gets the error response instead of the exception."""
    viewer_api.raise_request_exception = False
    return viewer_api


@pytest.mark.usefixtures("_failing_stats")
def test_unhandled_exception_is_logged_and_hidden_from_client(
    viewer_without_exceptions, caplog
):
    response = viewer_without_exceptions.get(
        "/api/v1/stats", headers={"X-Request-ID": "request-1"}
    )

    body = assert_error_response(response, 500, "INTERNAL_ERROR")
    assert body["request_id"] == "request-1"
    assert "internal detail" not in response.content.decode()
    assert "internal detail" in caplog.text
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("django.request", logging.ERROR)


@pytest.mark.usefixtures("_failing_stats")
def test_unhandled_exception_in_debug_mode_returns_json_error(
    viewer_without_exceptions, settings
):
    settings.DEBUG = True

    assert_error_response(
        viewer_without_exceptions.get("/api/v1/stats"), 500, "INTERNAL_ERROR"
    )


@pytest.mark.usefixtures("_failing_stats")
def test_request_after_unhandled_exception_succeeds(viewer_without_exceptions):
    viewer_without_exceptions.get("/api/v1/stats")

    assert viewer_without_exceptions.get("/api/v1/kinds").status_code == 200


def test_disallowed_host_returns_json_400(viewer_api):
    response = viewer_api.get(CATALOG, headers={"Host": "evil.example"})

    assert_error_response(response, 400, "INVALID_PARAMETER")


def test_unknown_page_returns_html_404(client):
    response = client.get("/nope")

    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("request_id", ["req_1", "a" * 64, "A.b-c_9"])
def test_valid_request_id_of_client_is_returned(viewer_api, request_id):
    response = viewer_api.get(f"{CATALOG}?x=1", headers={"X-Request-ID": request_id})

    assert response["X-Request-ID"] == response.json()["request_id"] == request_id


@pytest.mark.parametrize(
    "request_id",
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
def test_invalid_request_id_is_replaced(viewer_api, request_id):
    response = viewer_api.get(f"{CATALOG}?x=1", HTTP_X_REQUEST_ID=request_id)

    new_id = response["X-Request-ID"]
    assert new_id == response.json()["request_id"]
    assert new_id.startswith("req_")
    assert len(new_id) == 20


def test_each_request_has_unique_id(viewer_api):
    ids = {viewer_api.get(CATALOG)["X-Request-ID"] for _ in range(5)}

    assert len(ids) == 5
    assert current_request_id.get() == "-"


def test_log_record_outside_request_has_placeholder_id():
    record = logging.makeLogRecord({})

    assert RequestIdFilter().filter(record)
    assert record.request_id == "-"


def test_failed_import_is_not_logged_as_server_error(editor_api, caplog):
    response = editor_api.post(
        f"{CATALOG}/import", {"url": "http://nowhere.invalid/"}, format="json"
    )

    assert response.status_code == 502
    assert "django.request" not in {record.name for record in caplog.records}


def test_logged_error_response_has_request_id(viewer_api, caplog, monkeypatch):
    monkeypatch.setattr(views, "is_database_available", lambda: False)
    response = viewer_api.get("/readyz")

    assert response.status_code == 503
    (record,) = [log for log in caplog.records if log.name == "django.request"]
    assert RequestIdFilter().filter(record)
    assert record.request_id == response["X-Request-ID"]


@pytest.mark.parametrize("url", [CATALOG, "/api/v1/kinds", "/api/v1/stats"])
def test_matching_etag_returns_304(viewer_api, url):
    CatalogEntryFactory()
    first = viewer_api.get(url)
    second = viewer_api.get(url, headers={"If-None-Match": first["ETag"]})

    assert first["ETag"].startswith('W/"')
    assert first["Cache-Control"] == "private, no-cache"
    assert (second.status_code, second.content) == (304, b"")
    assert second["ETag"] == first["ETag"]
    assert second["X-Request-ID"]


def test_outdated_etag_returns_200(viewer_api):
    etag = viewer_api.get(CATALOG)["ETag"]
    CatalogEntryFactory()
    response = viewer_api.get(CATALOG, headers={"If-None-Match": etag})

    assert (response.status_code, response.json()["total"]) == (200, 1)
    assert response["ETag"] != etag


def test_head_returns_etag_without_body(viewer_api):
    get_response, head_response = viewer_api.get(CATALOG), viewer_api.head(CATALOG)

    assert (head_response.status_code, head_response.content) == (200, b"")
    assert head_response["ETag"] == get_response["ETag"]


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
def test_other_conditional_headers_are_ignored(viewer_api, header):
    assert viewer_api.get(CATALOG, headers=header).json() == {"total": 0, "items": []}


def test_errors_and_writes_have_no_etag(editor_api):
    assert not editor_api.get(f"{CATALOG}?x=1").has_header("ETag")
    assert not register(editor_api).has_header("ETag")


def no_store_view(request):
    return HttpResponse("not cacheable", headers={"Cache-Control": "no-store"})


urlpatterns = [path("no-store", no_store_view), *project_urls.urlpatterns]


@pytest.mark.urls(__name__)
def test_no_store_response_has_no_etag(client):
    response = client.get("/no-store")

    assert (response.status_code, response.has_header("ETag")) == (200, False)
    assert response["Cache-Control"] == "no-store"
