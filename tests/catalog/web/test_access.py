import pytest

from tests.published import agent, publish

pytestmark = pytest.mark.django_db

INDEX = "/catalog/capabilities"
READ = [
    "/catalog",
    "/catalog?q=translate",
    "/catalog/{}",
    INDEX,
    f"{INDEX}/a2a.skill::Translate%20text",
]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def entry():
    return publish(agent("Polyglot", "Translate text"))


@pytest.mark.parametrize("place", [*READ, "/catalog/register"])
def test_strangers_are_sent_to_the_login_and_back(client, entry, place):
    answer = client.get(place.format(entry.pk))

    escaped = place.format(entry.pk).replace("?", "%3F").replace("=", "%3D")
    escaped = escaped.replace("%20", "%2520").replace(":", "%3A")
    assert (answer.status_code, answer["Location"]) == (302, f"/login?next={escaped}")


@pytest.mark.parametrize("place", READ)
def test_viewers_may_read(reader, entry, place):
    assert reader.get(place.format(entry.pk)).status_code == 200
    assert reader.head(place.format(entry.pk)).status_code == 200
    assert reader.post(place.format(entry.pk)).status_code == 405


@pytest.mark.parametrize("place", [*READ, "/catalog/register"])
def test_somebody_without_a_role_may_not(session_of, entry, place):
    answer = session_of().get(place.format(entry.pk))

    assert answer.status_code == 403
    assert "You may not see this" in answer.content.decode()
    assert 'href="/account">Your account' in answer.content.decode()


@pytest.mark.parametrize("place", READ)
def test_anonymous_reading_opens_what_is_read(
    client, session_of, entry, place, settings
):
    settings.AGENTLENS_ANONYMOUS_READ = True

    assert client.get(place.format(entry.pk)).status_code == 200
    assert session_of().get(place.format(entry.pk)).status_code == 200


def test_and_nothing_else(client, reader, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True

    assert client.get("/catalog/register")["Location"].startswith("/login?next=")
    assert client.post("/catalog/register").status_code == 302
    assert reader.get("/catalog/register").status_code == 403
    assert 'href="/catalog/register"' not in reader.get("/catalog").content.decode()


@pytest.mark.parametrize("place", ["/catalog?q=x", f"{INDEX}?q=x"])
def test_htmx_takes_strangers_to_the_login_itself(client, place):
    answer = client.get(place, headers=HTMX)

    assert answer.status_code == 200
    assert answer["HX-Redirect"].startswith("/login?next=/catalog")
    assert answer["HX-Redirect"].endswith("%3Fq%3Dx")
    assert answer.content == b""


@pytest.mark.parametrize("place", ["/catalog", INDEX])
def test_htmx_gets_the_results_and_everybody_else_a_page(reader, entry, place):
    whole = reader.get(place)
    part = reader.get(place, headers=HTMX)
    for headers in ({"HX-Boosted": "true"}, {"HX-History-Restore-Request": "true"}):
        answer = reader.get(place, headers=HTMX | headers)
        assert answer.content.count(b"<html") == 1

    assert whole.content.count(b"<html") == whole.content.count(b'id="results"') == 1
    assert part.content.count(b"<html") == part.content.count(b'id="results"') == 0
    assert b'class="filters"' in part.content
    assert "HX-Request" in whole["Vary"]
    assert "HX-Request" in part["Vary"]


@pytest.mark.parametrize("place", ["/catalog", INDEX])
def test_the_part_and_the_page_are_not_taken_for_one_another(reader, entry, place):
    whole = reader.get(place)
    headers = {"If-None-Match": whole["ETag"]}

    assert reader.get(place, headers=headers | HTMX).status_code == 200
    assert whole["ETag"] != reader.get(place, headers=HTMX)["ETag"]
