import pytest

from catalog.models import CatalogEntry, Status
from tests.published import agent, publish, tool_server

pytestmark = pytest.mark.django_db


def names(answer):
    assert answer.status_code == 200
    return [entry.display_name for entry in answer.context["page"]]


@pytest.fixture
def catalog():
    publish(agent("Polyglot", "Translate text"))
    publish(agent("Babel", "Translate text"), Status.OFFLINE)
    publish(tool_server("Stacks", "search_documents"))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["Babel", "Polyglot", "Stacks"]),
        ("q=translate", ["Babel", "Polyglot"]),
        ("protocol=mcp", ["Stacks"]),
        ("status=offline", ["Babel"]),
        ("status=offline,active&protocol=a2a", ["Babel", "Polyglot"]),
        ("kind=mcp.tool", ["Stacks"]),
        ("feature=transport.streaming", ["Babel", "Polyglot"]),
        ("sort=createdAt_desc", ["Stacks", "Babel", "Polyglot"]),
        ("q=nothing+like+it", []),
    ],
)
def test_the_catalog_answers_what_the_api_does(reader, catalog, asked, found):
    assert names(reader.get(f"/catalog?{asked}")) == found


@pytest.mark.parametrize(
    "asked",
    [
        "page=abc",
        "page=-1",
        "page=99",
        "shown=-1",
        "kind=nope",
        "protocol=nope",
        "status=nope",
        "sort=nope",
        "q=%00",
        "feature=",
        "utm_source=letter",
    ],
)
def test_it_forgives_what_makes_no_sense(reader, catalog, asked):
    assert len(names(reader.get(f"/catalog?{asked}"))) == 3


def test_filters_are_counted_with_all_other_questions_held(reader, catalog):
    answer = reader.get("/catalog?q=translate&status=offline")

    protocols = {c["value"]: c["count"] for c in answer.context["protocols"]}
    statuses = {c["value"]: c["count"] for c in answer.context["statuses"]}
    assert (protocols["a2a"], protocols["mcp"]) == (1, 0)
    assert (statuses["offline"], statuses["active"]) == (1, 1)


def test_filters_from_elsewhere_are_shown_and_can_be_taken_away(reader, catalog):
    page = reader.get("/catalog?provider=Acme&q=x&page=2").content.decode()

    assert '<input type="hidden" name="provider" value="Acme">' in page
    assert 'href="?q=x"' in page


@pytest.mark.parametrize("asked", ["", "page=2", "sort=createdAt_desc", "utm=letter"])
def test_an_empty_catalog_is_not_a_search_without_results(reader, asked):
    page = reader.get(f"/catalog?{asked}").content.decode()

    assert "The catalog is empty" in page
    assert "Register an agent's" in page


def test_an_agents_page_links_what_can_be_discovered_and_nothing_else(reader):
    entry = publish(agent("Polyglot", "Translate text"))
    answer = reader.get(f"/catalog/{entry.pk}")

    page = answer.content.decode()
    assert 'href="/catalog/capabilities/a2a.skill%3A%3ATranslate%20text"' in page
    assert page.count('href="/catalog/capabilities/') == 1
    assert "transport.streaming" in page
    assert f"Capabilities ({len(answer.context['capabilities'])})" in page


def test_values_are_told_in_words_and_not_as_python_writes_them(reader):
    entry = publish(agent("Polyglot", "Translate text"))
    told = {"Costs": 3.5, "Teams": ["a", "b"], "Open": False, "By": {"day": None}}
    CatalogEntry.objects.update(metadata=told)
    page = reader.get(f"/catalog/{entry.pk}").content.decode()

    assert "['" not in page
    assert "[&#x27;" not in page
    for words in ("3.5", "a, b", "no", "{&quot;day&quot;: null}"):
        assert words in page


def test_an_agent_there_is_not_is_told_in_words(reader):
    answer = reader.get("/catalog/00000000-0000-0000-0000-000000000000")

    assert answer.status_code == 404
    assert "There is no such agent in the catalog" in answer.content.decode()


def test_a_page_there_is_not_speaks_no_python(reader):
    answer = reader.get("/catalog/nope")

    assert answer.status_code == 404
    assert "Resolver404" not in answer.content.decode()
