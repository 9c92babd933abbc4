import pytest

from catalog.models import CatalogEntry, Status
from tests.registered_agents import agent_card, mcp_definition, register_agent

pytestmark = pytest.mark.django_db


def entry_names(response):
    assert response.status_code == 200
    return [entry.display_name for entry in response.context["page"]]


@pytest.fixture
def registered_agents():
    register_agent(agent_card("Polyglot", "Translate text"))
    register_agent(agent_card("Babel", "Translate text"), Status.OFFLINE)
    register_agent(mcp_definition("Stacks", "search_documents"))


@pytest.mark.parametrize(
    ("query", "expected"),
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
def test_list_filters_and_sorts_like_the_api(
    viewer_client, registered_agents, query, expected
):
    assert entry_names(viewer_client.get(f"/catalog?{query}")) == expected


@pytest.mark.parametrize(
    "query",
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
def test_catalog_page_ignores_invalid_parameters(
    viewer_client, registered_agents, query
):
    assert len(entry_names(viewer_client.get(f"/catalog?{query}"))) == 3


def test_filter_choice_counts_apply_all_other_filters(viewer_client, registered_agents):
    response = viewer_client.get("/catalog?q=translate&status=offline")

    context = response.context
    protocols = {choice["value"]: choice["count"] for choice in context["protocols"]}
    statuses = {choice["value"]: choice["count"] for choice in context["statuses"]}
    assert (protocols["a2a"], protocols["mcp"]) == (1, 0)
    assert (statuses["offline"], statuses["active"]) == (1, 1)


def test_filter_set_by_link_is_shown_and_can_be_removed(
    viewer_client, registered_agents
):
    html = viewer_client.get("/catalog?provider=Acme&q=x&page=2").content.decode()

    assert '<input type="hidden" name="provider" value="Acme">' in html
    assert 'href="?q=x"' in html


@pytest.mark.parametrize("query", ["", "page=2", "sort=createdAt_desc", "utm=letter"])
def test_empty_catalog_page_shows_its_own_message(viewer_client, query):
    html = viewer_client.get(f"/catalog?{query}").content.decode()

    assert "The catalog is empty" in html
    assert "Registered agents are listed here." in html
    assert "No agents found" not in html


def test_entry_page_links_only_discoverable_capabilities(viewer_client):
    entry = register_agent(agent_card("Polyglot", "Translate text"))
    response = viewer_client.get(f"/catalog/{entry.pk}")

    html = response.content.decode()
    assert 'href="/catalog/capabilities/a2a.skill%3A%3ATranslate%20text"' in html
    assert html.count('href="/catalog/capabilities/') == 1
    assert "transport.streaming" in html


def test_pages_count_discoverable_capabilities_t18(viewer_client):
    entry = register_agent(agent_card("Polyglot", "Translate text"))
    page = viewer_client.get(f"/catalog/{entry.pk}").content.decode()
    catalog_page = viewer_client.get("/catalog").content.decode()
    technical = entry.agent_type.capabilities.exclude(kind="a2a.skill").count()

    assert technical > 0
    assert "Capabilities (1)" in page
    assert f"Technical details ({technical})" in page
    assert '<td class="number" data-label="Capabilities">1</td>' in page
    assert "<span>1 capability</span>" in catalog_page


def test_entry_page_formats_metadata_values_for_people(viewer_client):
    entry = register_agent(agent_card("Polyglot", "Translate text"))
    metadata = {"Costs": 3.5, "Teams": ["a", "b"], "Open": False, "By": {"day": None}}
    CatalogEntry.objects.update(metadata=metadata)
    html = viewer_client.get(f"/catalog/{entry.pk}").content.decode()

    assert "['" not in html
    assert "[&#x27;" not in html
    for text in ("3.5", "a, b", "no", "{&quot;day&quot;: null}"):
        assert text in html


def test_entry_page_of_unknown_id_returns_404(viewer_client):
    response = viewer_client.get("/catalog/00000000-0000-0000-0000-000000000000")

    assert response.status_code == 404
    assert "No agent with this ID is in the catalog." in response.content.decode()


def test_page_of_unknown_url_does_not_show_python_error(viewer_client):
    response = viewer_client.get("/catalog/nope")

    assert response.status_code == 404
    assert "Resolver404" not in response.content.decode()
