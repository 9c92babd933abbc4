import pytest

from tests.registered_agents import agent_card, register_agent

pytestmark = pytest.mark.django_db

CAPABILITIES_URL = "/catalog/capabilities"
# A `{}` in a URL stands for the entry's ID.
READABLE_URLS = [
    "/catalog",
    "/catalog?q=translate",
    "/catalog/{}",
    CAPABILITIES_URL,
    f"{CAPABILITIES_URL}/a2a.skill::Translate%20text",
]
REGISTER_URL = "/catalog/register"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def polyglot():
    return register_agent(agent_card("Polyglot", "Translate text"))


@pytest.mark.parametrize("url", [*READABLE_URLS, REGISTER_URL])
def test_page_redirects_anonymous_to_login_with_return_url(client, polyglot, url):
    response = client.get(url.format(polyglot.pk))

    return_url = url.format(polyglot.pk).replace("?", "%3F").replace("=", "%3D")
    return_url = return_url.replace("%20", "%2520").replace(":", "%3A")
    assert response.status_code == 302
    assert response["Location"] == f"/login?next={return_url}"


@pytest.mark.parametrize("url", READABLE_URLS)
def test_page_accepts_only_get_and_head(viewer_client, polyglot, url):
    assert viewer_client.get(url.format(polyglot.pk)).status_code == 200
    assert viewer_client.head(url.format(polyglot.pk)).status_code == 200
    assert viewer_client.post(url.format(polyglot.pk)).status_code == 405


@pytest.mark.parametrize("url", [*READABLE_URLS, REGISTER_URL])
def test_page_for_user_without_role_returns_403(session_client_for_role, polyglot, url):
    response = session_client_for_role().get(url.format(polyglot.pk))

    assert response.status_code == 403
    html = response.content.decode()
    assert "You don't have access" in html
    assert 'href="/account">Your account' in html


@pytest.mark.parametrize("url", READABLE_URLS)
def test_anonymous_read_setting_allows_pages_without_role(
    client, session_client_for_role, polyglot, url, settings
):
    settings.AGENTLENS_ANONYMOUS_READ = True

    assert client.get(url.format(polyglot.pk)).status_code == 200
    assert session_client_for_role().get(url.format(polyglot.pk)).status_code == 200


def test_anonymous_read_setting_does_not_allow_register_page(
    client, viewer_client, settings
):
    settings.AGENTLENS_ANONYMOUS_READ = True

    assert client.get(REGISTER_URL)["Location"].startswith("/login?next=")
    assert client.post(REGISTER_URL).status_code == 302
    assert viewer_client.get(REGISTER_URL).status_code == 403
    html = viewer_client.get("/catalog").content.decode()
    assert f'href="{REGISTER_URL}"' not in html


@pytest.mark.parametrize("url", ["/catalog?q=x", f"{CAPABILITIES_URL}?q=x"])
def test_htmx_request_of_anonymous_redirects_whole_page_to_login(client, url):
    response = client.get(url, headers=HTMX)

    assert response.status_code == 200
    assert response["HX-Redirect"].startswith("/login?next=/catalog")
    assert response["HX-Redirect"].endswith("%3Fq%3Dx")
    assert response.content == b""


@pytest.mark.parametrize("url", ["/catalog", CAPABILITIES_URL])
def test_htmx_request_returns_partial_unless_boosted_or_history_restore(
    viewer_client, polyglot, url
):
    page = viewer_client.get(url)
    partial = viewer_client.get(url, headers=HTMX)
    for headers in ({"HX-Boosted": "true"}, {"HX-History-Restore-Request": "true"}):
        response = viewer_client.get(url, headers=HTMX | headers)
        assert response.content.count(b"<html") == 1

    assert page.content.count(b"<html") == page.content.count(b'id="results"') == 1
    assert partial.content.count(b"<html") == 0
    assert partial.content.count(b'id="results"') == 0
    assert b'class="filters"' in partial.content
    assert "HX-Request" in page["Vary"]
    assert "HX-Request" in partial["Vary"]


@pytest.mark.parametrize("url", ["/catalog", CAPABILITIES_URL])
def test_partial_and_page_have_different_etags(viewer_client, polyglot, url):
    page = viewer_client.get(url)
    headers = {"If-None-Match": page["ETag"]}

    assert viewer_client.get(url, headers=headers | HTMX).status_code == 200
    assert page["ETag"] != viewer_client.get(url, headers=HTMX)["ETag"]
