import json

import pytest
from django.contrib.staticfiles import finders
from django.db.utils import ConnectionHandler

from agentlens import views

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["get", "head"])
def test_healthz_is_public_and_not_cacheable(client, method):
    response = getattr(client, method)("/healthz")

    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    assert not response.has_header("ETag")


def test_healthz_makes_no_queries(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/healthz").json() == {"status": "ok"}


def test_readyz_reports_database_and_cache(client):
    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "cache": "ok"}
    assert "no-store" in response["Cache-Control"]


def test_readyz_without_cache_returns_503(client, settings):
    """Use a real client of a Redis server that is not running."""
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    response = client.get("/readyz")

    assert response.status_code == 503
    expected = {"status": "failing", "database": "ok", "cache": "failing"}
    assert response.json() == expected


def test_readyz_reports_cache_that_stores_nothing_as_failing(client, settings):
    backend = "django.core.cache.backends.dummy.DummyCache"
    settings.CACHES = {"default": {"BACKEND": backend}}

    assert client.get("/readyz").json()["cache"] == "failing"


def test_readyz_without_database_returns_503(client, monkeypatch, tmp_path):
    """Use a real connection to a database in a folder that does not exist."""
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "no" / "db"}
    connection = ConnectionHandler({"default": database})["default"]
    monkeypatch.setattr(views, "connection", connection)
    response = client.get("/readyz")

    assert response.status_code == 503
    expected = {"status": "failing", "database": "failing", "cache": "ok"}
    assert response.json() == expected


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/"])
def test_post_to_read_only_view_returns_405(client, path):
    assert client.post(path).status_code == 405


def test_root_redirects_to_capabilities(client):
    response = client.get("/")

    assert (response.status_code, response["Location"]) == (
        302,
        "/catalog/capabilities",
    )


def test_docs_redirects_to_api_docs(client):
    response = client.get("/docs")

    assert (response.status_code, response["Location"]) == (302, "/api/v1/docs")


def test_api_docs_load_no_external_resources(viewer_client):
    page = viewer_client.get("/docs", follow=True)

    text = page.content.decode()
    assert page.status_code == 200
    assert "/static/drf_spectacular_sidecar/swagger-ui-dist/" in text
    assert "//cdn" not in text
    assert "https://" not in text
    assert finders.find("drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js")


def test_api_docs_have_no_inline_script(viewer_client):
    page = viewer_client.get("/api/v1/docs")

    assert "script-src 'self'" in page["Content-Security-Policy"]
    assert "<script>" not in page.content.decode()
    script = viewer_client.get("/api/v1/docs?script=")
    assert script["Content-Type"] == "application/javascript"


def test_schema_describes_catalog_paths(viewer_client):
    response = viewer_client.get(
        "/api/v1/schema", headers={"Accept": "application/json"}
    )

    schema = json.loads(response.content)
    assert schema["openapi"] == "3.1.0"
    assert {"/api/v1/catalog", "/api/v1/catalog/register"} <= schema["paths"].keys()


def test_schema_declares_error_responses_of_every_operation(viewer_client):
    response = viewer_client.get(
        "/api/v1/schema", headers={"Accept": "application/json"}
    )

    schema = json.loads(response.content)
    assert len(schema["components"]["schemas"]["Error"]["required"]) == 5
    for operations in schema["paths"].values():
        for operation in operations.values():
            assert {"400", "401", "403"} <= operation["responses"].keys()


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/nope", "/admin/login/"])
def test_every_response_has_security_headers_and_request_id(client, path):
    response = client.get(path)

    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Request-ID"].startswith("req_")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/admin", "/admin/"),
        ("/catalog/", "/catalog"),
        ("/login/", "/login"),
    ],
)
def test_extra_or_missing_slash_redirects(client, path, location):
    assert client.get(path)["Location"] == location


@pytest.mark.parametrize("path", ["/nope/", "/%2Fevil.example/", "/a//evil.example/"])
def test_unknown_path_with_slash_returns_404(client, path):
    assert client.get(path).status_code == 404


def test_api_docs_redirect_anonymous_browser_to_login(client):
    response = client.get("/api/v1/docs", headers={"Accept": "text/html,*/*"})

    assert response["Location"] == "/login?next=/api/v1/docs"


def test_api_docs_link_to_catalog(viewer_client):
    assert '<a href="/">' in viewer_client.get("/api/v1/docs").content.decode()
