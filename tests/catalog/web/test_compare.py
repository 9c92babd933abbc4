import pytest

from tests.api_errors import assert_error_response
from tests.catalog.test_comparison import add_capabilities, add_features
from tests.factories import CatalogEntryFactory
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

COMPARE_URL = "/catalog/compare"


def get_comparison(client, *entries):
    return client.get(COMPARE_URL, {"id": [str(entry.pk) for entry in entries]})


def get_html(response):
    """Return the HTML of a response with every run of white space as one space."""
    return " ".join(response.content.decode().split())


def test_comparison_shows_features_of_each_agent_as_text(viewer_client):
    first = CatalogEntryFactory(display_name="Polyglot")
    second = CatalogEntryFactory(display_name="<b>Hostile</b>")
    add_features(first, transport__streaming=True)
    add_features(second, transport__streaming=False)
    add_capabilities(first, "<script>alert(1)</script>")
    html = get_html(get_comparison(viewer_client, first, second))

    assert "Polyglot" in html
    assert "&lt;b&gt;Hostile" in html
    assert 'class="feature-value supported"' in html
    assert 'class="feature-value unsupported"' in html
    assert "<script>alert" not in html


def test_comparison_of_one_agent_asks_for_more(viewer_client):
    response = get_comparison(viewer_client, CatalogEntryFactory())

    assert response.status_code == 200
    assert "Select 2 to 4 agents." in get_html(response)


def test_comparison_links_back_to_catalog_with_selection(viewer_client):
    first, second = CatalogEntryFactory.create_batch(2)
    html = get_html(get_comparison(viewer_client, first, second))

    assert f"/catalog?chosen={first.pk}&amp;chosen={second.pk}" in html


def test_comparison_of_five_agents_keeps_four_selected(viewer_client):
    entries = CatalogEntryFactory.create_batch(5)
    html = get_html(get_comparison(viewer_client, *entries))

    assert "Select 2 to 4 agents." in html
    assert str(entries[3].pk) in html
    assert str(entries[4].pk) not in html


def test_comparison_with_deleted_agent_returns_404_page(viewer_client):
    first, second, deleted = CatalogEntryFactory.create_batch(3)
    ids = [first.pk, second.pk, deleted.pk]
    deleted.delete()
    response = viewer_client.get(COMPARE_URL, {"id": [str(pk) for pk in ids]})

    assert response.status_code == 404
    assert "Some of these agents are no longer in the catalog." in get_html(response)


def test_comparison_shows_long_value_in_full(viewer_client):
    first, second = CatalogEntryFactory.create_batch(2)
    add_features(first, custom__story="word " * 100 + "the end")
    html = get_html(get_comparison(viewer_client, first, second))

    assert "<summary>word word" in html
    assert "the end" in html


@pytest.mark.parametrize("query", ["?id=x&id=y", "?id=%00&id=1"])
def test_comparison_of_invalid_ids_returns_404(viewer_client, query):
    assert viewer_client.get(f"{COMPARE_URL}{query}").status_code == 404


def test_comparison_page_ignores_empty_id(viewer_client):
    first, second = CatalogEntryFactory.create_batch(2)

    url = f"{COMPARE_URL}?id=&id={first.pk}&id={second.pk}"
    assert viewer_client.get(url).status_code == 200


def test_catalog_form_redirects_to_comparison_of_selected_agents(viewer_client):
    first, second = CatalogEntryFactory.create_batch(2)
    form_query = f"q=x&sort=&chosen={first.pk}&chosen={second.pk}"
    form_url = f"{COMPARE_URL}?{form_query}"
    plain = viewer_client.get(form_url)
    htmx = viewer_client.get(form_url, headers={"HX-Request": "true"})

    expected = f"{COMPARE_URL}?id={first.pk}&id={second.pk}"
    assert plain["Location"] == htmx["HX-Redirect"] == expected


def test_comparison_page_query_count_is_independent_of_number_of_agents(viewer_client):
    entries = CatalogEntryFactory.create_batch(4)
    for entry in entries:
        add_capabilities(entry, *(f"tool {n}" for n in range(30)))

    def count_comparison_queries(count):
        query = "&".join(f"id={entry.pk}" for entry in entries[:count])
        return count_queries(viewer_client, f"{COMPARE_URL}?{query}")

    assert count_comparison_queries(2) == count_comparison_queries(4)


def test_catalog_keeps_selection_when_search_finds_nothing(viewer_client):
    selected = CatalogEntryFactory()
    response = viewer_client.get(f"/catalog?q=zzzznothing&chosen={selected.pk}")
    html = get_html(response)

    assert "No agents found" in html
    assert f'<input type="hidden" name="chosen" value="{selected.pk}">' in html
    assert f'href="/catalog?chosen={selected.pk}"' in html


def test_catalog_keeps_selection_of_agents_on_other_pages(viewer_client):
    first = CatalogEntryFactory(display_name="Zephyr")
    second, unselected = CatalogEntryFactory.create_batch(2)
    query = f"q=zephyr&chosen={first.pk}&chosen={second.pk}&chosen=nonsense"
    response = viewer_client.get(f"/catalog?{query}")
    html = get_html(response)

    assert list(response.context["page"]) == [first]
    assert f'value="{first.pk}" checked' in html
    assert f'<input type="hidden" name="chosen" value="{second.pk}">' in html
    selection = response.context["selection"]
    assert [item["entry"] for item in selection] == [first, second]
    assert str(second.pk) not in selection[1]["remaining_query"]
    assert str(unselected.pk) not in html


def test_catalog_disables_fifth_agent_when_four_are_selected(viewer_client):
    entries = CatalogEntryFactory.create_batch(5)
    query = "&".join(f"chosen={entry.pk}" for entry in entries[:4])
    html = get_html(viewer_client.get(f"/catalog?{query}"))

    assert f'value="{entries[4].pk}" disabled' in html
    assert html.count("disabled") == 1


def test_selection_query_count_is_independent_of_number_of_agents(viewer_client):
    entries = CatalogEntryFactory.create_batch(4)

    def count_selection_queries(selected_count):
        query = "&".join(f"chosen={entry.pk}" for entry in entries[:selected_count])
        return count_queries(viewer_client, f"/catalog?{query}")

    counts = [count_selection_queries(count) for count in (0, 1, 4)]
    assert counts[1] == counts[2] == counts[0] + 1


def test_catalog_ignores_unknown_feature_and_shows_message(viewer_client):
    streaming, _ = CatalogEntryFactory.create_batch(2)
    add_features(streaming, transport__streaming=True)
    query = "feature=transport.streaming&feature=reasoning.suported"
    response = viewer_client.get(f"/catalog?{query}")

    assert list(response.context["page"]) == [streaming]
    (choice,) = response.context["features"]
    assert choice["value"] == "transport.streaming"
    message = (
        "The feature “reasoning.suported” was ignored: it is unknown, or there are too"
        " many features."
    )
    assert message in get_html(response)


def test_catalog_shows_message_for_undeclared_feature_t17(viewer_client):
    entry = CatalogEntryFactory()
    add_features(entry, x__other=True)
    response = viewer_client.get("/catalog?feature=nope.x&feature=x.other")
    with_nul = viewer_client.get("/catalog?feature=nope.%00")

    assert list(response.context["page"]) == list(with_nul.context["page"]) == [entry]
    assert response.context["rejected_features"] == ["nope.x"]
    assert "The feature “nope.x” was ignored" in get_html(response)
    assert with_nul.context["rejected_features"] == ["nope.\0"]


def test_selected_feature_shows_number_of_its_agents(viewer_client):
    CatalogEntryFactory()
    CatalogEntryFactory.create_batch(2, offers=["mcp.tool"])
    response = viewer_client.get("/catalog?feature=tools.items")

    (choice,) = response.context["features"]
    assert (choice["label"], choice["count"]) == ("Tools", 2)


def test_catalog_shows_feature_counts_and_comparison_checkboxes(viewer_client):
    streaming, other = CatalogEntryFactory.create_batch(2)
    add_features(streaming, transport__streaming=True, reasoning__supported=False)
    add_features(other, transport__streaming=False)
    response = viewer_client.get("/catalog?feature=transport.streaming")

    assert list(response.context["page"]) == [streaming]
    choices = response.context["features"]
    assert [(choice["value"], choice["count"]) for choice in choices] == [
        ("transport.streaming", 1)
    ]
    assert f'name="chosen" value="{streaming.pk}"' in get_html(response)


def test_custom_features_do_not_displace_standard_features(viewer_client):
    painter, other = CatalogEntryFactory.create_batch(2)
    add_features(painter, multimodal__input__image=True)
    add_features(other, **{f"custom__k{n}": True for n in range(60)})
    add_features(other, output__supportedMimeTypes=["text/plain"])
    query = "feature=custom.k1&feature=output.supportedMimeTypes"
    all_choices = viewer_client.get("/catalog").context["features"]
    filtered_choices = viewer_client.get(f"/catalog?{query}").context["features"]

    values = [choice["value"] for choice in all_choices]
    assert values == ["multimodal.input.image"]
    assert [(choice["value"], choice["count"]) for choice in filtered_choices] == [
        ("custom.k1", 1),
        ("output.supportedMimeTypes", 1),
    ]


def test_feature_filter_accepts_alternative_spelling(viewer_client, viewer_api):
    painter = CatalogEntryFactory()
    add_features(painter, multimodal__input__image=True)
    query = "feature=multimodal.imageInput"
    api_response = viewer_api.get(f"/api/v1/catalog?{query}").json()
    page = viewer_client.get(f"/catalog?{query}")

    assert api_response["total"] == 1
    names = [choice["value"] for choice in page.context["features"]]
    assert names == ["multimodal.input.image"]


def test_feature_filter_rejects_long_name_and_keeps_trailing_space(viewer_api):
    entry = CatalogEntryFactory()
    add_features(entry, **{"custom__on ": True})
    too_long = viewer_api.get(f"/api/v1/catalog?feature={'x' * 501}")

    assert_error_response(too_long, 400, "INVALID_PARAMETER")
    assert viewer_api.get("/api/v1/catalog?feature=custom.on%20").json()["total"] == 1


def test_entry_page_shows_only_declared_features(viewer_client):
    entry = CatalogEntryFactory()
    url = f"/catalog/{entry.pk}"
    assert 'id="features"' not in get_html(viewer_client.get(url))

    add_features(entry, reasoning__supported=True)
    html = get_html(viewer_client.get(url))
    assert 'id="features"' in html
    assert "Reasoning" in html
    assert "Human in the loop" not in html
