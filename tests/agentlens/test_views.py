import json

import pytest
from django.contrib.staticfiles import finders
from django.db.utils import ConnectionHandler

from agentlens import views
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["get", "head"])
def test_alive_is_open_to_all_and_never_kept(client, method):
    answer = getattr(client, method)("/healthz")

    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert not answer.has_header("ETag")


def test_alive_asks_nothing_of_the_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/healthz").json() == {"status": "ok"}


def test_ready_has_a_database_and_a_cache(client):
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "database": "ok", "cache": "ok"}
    assert "no-store" in answer["Cache-Control"]


def test_not_ready_without_its_cache(client, settings):
    """A real client of a Redis that nobody runs."""
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    answer = client.get("/readyz")

    assert answer.status_code == 503
    expected = {"status": "failing", "database": "ok", "cache": "failing"}
    assert answer.json() == expected


def test_a_cache_that_forgets_at_once_is_failing(client, settings):
    forgetful = "django.core.cache.backends.dummy.DummyCache"
    settings.CACHES = {"default": {"BACKEND": forgetful}}

    assert client.get("/readyz").json()["cache"] == "failing"


def test_not_ready_without_its_database(client, monkeypatch, tmp_path):
    """A real connection to a database in a folder that is not there."""
    nowhere = {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "no" / "db"}
    broken = ConnectionHandler({"default": nowhere})["default"]
    monkeypatch.setattr(views, "connection", broken)
    answer = client.get("/readyz")

    assert answer.status_code == 503
    expected = {"status": "failing", "database": "failing", "cache": "ok"}
    assert answer.json() == expected


@pytest.mark.parametrize("place", ["/healthz", "/readyz", "/"])
def test_these_are_only_read(client, place):
    assert client.post(place).status_code == 405


def test_the_root_leads_to_the_capabilities(client):
    answer = client.get("/")

    assert (answer.status_code, answer["Location"]) == (302, "/catalog/capabilities")


def test_docs_lead_to_the_description_of_the_api(client):
    answer = client.get("/docs")

    assert (answer.status_code, answer["Location"]) == (302, "/api/v1/docs")


@pytest.fixture
def reader(client):
    client.force_login(UserFactory(role="Viewer"))
    return client


def test_the_docs_load_nothing_from_elsewhere(reader):
    page = reader.get("/docs", follow=True)

    text = page.content.decode()
    assert page.status_code == 200
    assert "/static/drf_spectacular_sidecar/swagger-ui-dist/" in text
    assert "//cdn" not in text
    assert "https://" not in text
    assert finders.find("drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js")


def test_the_docs_have_no_script_in_the_page(reader):
    page = reader.get("/api/v1/docs")

    assert "script-src 'self'" in page["Content-Security-Policy"]
    assert "<script>" not in page.content.decode()
    script = reader.get("/api/v1/docs?script=")
    assert script["Content-Type"] == "application/javascript"


def test_the_schema_describes_the_api(reader):
    answer = reader.get("/api/v1/schema", headers={"Accept": "application/json"})

    schema = json.loads(answer.content)
    assert schema["openapi"] == "3.1.0"
    assert {"/api/v1/catalog", "/api/v1/catalog/register"} <= schema["paths"].keys()


def test_the_schema_tells_every_operations_errors_in_the_one_shape(reader):
    answer = reader.get("/api/v1/schema", headers={"Accept": "application/json"})

    schema = json.loads(answer.content)
    assert len(schema["components"]["schemas"]["Error"]["required"]) == 5
    for operations in schema["paths"].values():
        for operation in operations.values():
            assert {"400", "401", "403"} <= operation["responses"].keys()


@pytest.mark.parametrize("place", ["/healthz", "/docs", "/nope", "/admin/login/"])
def test_every_answer_has_a_policy_an_id_and_no_sniffing(client, place):
    answer = client.get(place)

    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Request-ID"].startswith("req_")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/admin", "/admin/"),
        ("/catalog/", "/catalog"),
        ("/login/", "/login"),
    ],
)
def test_a_slash_too_many_or_too_few_is_forgiven(client, typed, meant):
    assert client.get(typed)["Location"] == meant


@pytest.mark.parametrize("place", ["/nope/", "/%2Fevil.example/", "/a//evil.example/"])
def test_but_leads_nowhere_else(client, place):
    assert client.get(place).status_code == 404


def test_a_browser_that_nobody_knows_logs_in_to_read_the_docs(client):
    answer = client.get("/api/v1/docs", headers={"Accept": "text/html,*/*"})

    assert answer["Location"] == "/login?next=/api/v1/docs"


def test_there_is_a_way_back_from_the_docs(reader):
    assert '<a href="/">' in reader.get("/api/v1/docs").content.decode()
