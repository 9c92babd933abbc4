import pytest

from tests.api_errors import assert_error_response
from tests.catalog.test_comparison import add_capabilities, add_features
from tests.factories import CatalogEntryFactory

from .entries import COMPARE_URL

pytestmark = pytest.mark.django_db


def get_comparison(client, *entries):
    return client.get(COMPARE_URL, {"id": [str(entry.pk) for entry in entries]})


def test_comparison_contains_entries_features_and_capabilities(viewer_api):
    first, second = CatalogEntryFactory.create_batch(2)
    add_features(first, transport__streaming=True)
    add_capabilities(first, "add", "remove")
    add_capabilities(second, "add")
    body = get_comparison(viewer_api, first, second).json()

    assert [entry["id"] for entry in body["entries"]] == [str(first.pk), str(second.pk)]
    assert body["entries"][0]["only"] == [{"kind": "mcp.tool", "name": "remove"}]
    assert body["entries"][0]["capability_count"] == 2
    assert body["entries"][0]["technical_count"] == 1
    assert body["common"] == [{"kind": "mcp.tool", "name": "add"}]
    assert {
        "category": "transport",
        "category_label": "Transport",
        "name": "transport.streaming",
        "label": "Streaming",
        "values": [True, None],
    } in body["features"]


@pytest.mark.parametrize("count", [2, 4])
def test_comparison_query_count_is_independent_of_number_of_entries(
    viewer_api, count, django_assert_num_queries
):
    entries = CatalogEntryFactory.create_batch(count)
    for entry in entries:
        add_capabilities(entry, *(f"tool {n}" for n in range(30)))
    # The token and its user, then the entries, their capabilities and their uptime.
    with django_assert_num_queries(1 + 3):
        assert get_comparison(viewer_api, *entries).status_code == 200


def test_comparison_ignores_empty_id(viewer_api):
    first, second = CatalogEntryFactory.create_batch(2)

    url = f"{COMPARE_URL}?id={first.pk}&id=&id={second.pk}"
    assert viewer_api.get(url).status_code == 200


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "Select 2 to 4 agents"),
        ("?id=", "Select 2 to 4 agents"),
        ("?id=x&id=y", "id 'x' is not a UUID"),
        ("?id=1", "id '1' is not a UUID"),
    ],
)
def test_comparison_rejects_missing_or_invalid_ids(viewer_api, query, message):
    response = viewer_api.get(COMPARE_URL + query)

    body = assert_error_response(response, 400, "INVALID_PARAMETER")
    assert body["error"] == message


def test_comparison_rejects_unknown_entry_and_parameter(viewer_api):
    first, second = CatalogEntryFactory.create_batch(2)
    url = f"{COMPARE_URL}?id={first.pk}&id={second.agent_type_id}"

    body = assert_error_response(viewer_api.get(url), 404, "ENTRY_NOT_FOUND")
    assert body["error"] == f"Catalog entry {second.agent_type_id} not found"
    assert_error_response(viewer_api.get(f"{url}&x=1"), 400, "INVALID_PARAMETER")


def test_comparison_without_permission_returns_403(api_client_for_role):
    first, second = CatalogEntryFactory.create_batch(2)
    response = get_comparison(api_client_for_role(None), first, second)

    assert_error_response(response, 403, "PERMISSION_DENIED")
