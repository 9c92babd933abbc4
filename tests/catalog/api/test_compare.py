import pytest

from tests.api_errors import assert_error_response
from tests.catalog.test_comparison import declare, offer
from tests.factories import CatalogEntryFactory

pytestmark = pytest.mark.django_db

PLACE = "/api/v1/catalog/compare"


def ask(client, *entries):
    return client.get(PLACE, {"id": [str(entry.pk) for entry in entries]})


def test_entries_features_and_capabilities_side_by_side(viewer):
    first, second = CatalogEntryFactory.create_batch(2)
    declare(first, transport__streaming=True)
    offer(first, "add", "remove")
    offer(second, "add")
    body = ask(viewer, first, second).json()

    assert [entry["id"] for entry in body["entries"]] == [str(first.pk), str(second.pk)]
    assert body["entries"][0]["only"] == [{"kind": "mcp.tool", "name": "remove"}]
    assert body["entries"][0]["capability_count"] == 3
    assert body["common"] == [{"kind": "mcp.tool", "name": "add"}]
    assert {
        "category": "transport",
        "category_label": "Transport",
        "name": "transport.streaming",
        "label": "Streaming",
        "values": [True, None],
    } in body["features"]


@pytest.mark.parametrize("count", [2, 4])
def test_four_take_as_many_queries_as_two(viewer, count, django_assert_num_queries):
    entries = CatalogEntryFactory.create_batch(count)
    for entry in entries:
        offer(entry, *(f"tool {n}" for n in range(30)))
    # Who asks, the entries, their capabilities, their uptime.
    with django_assert_num_queries(1 + 3):
        assert ask(viewer, *entries).status_code == 200


def test_an_empty_id_is_as_good_as_none(viewer):
    first, second = CatalogEntryFactory.create_batch(2)

    assert viewer.get(f"{PLACE}?id={first.pk}&id=&id={second.pk}").status_code == 200


@pytest.mark.parametrize("query", ["", "?id=", "?id=x&id=y", "?id=1"])
def test_what_cannot_be_compared_is_refused(viewer, query):
    assert_error_response(viewer.get(PLACE + query), 400, "INVALID_PARAMETER")


def test_an_unknown_entry_and_parameter_are_refused(viewer):
    first, second = CatalogEntryFactory.create_batch(2)
    place = f"{PLACE}?id={first.pk}&id={second.agent_type_id}"

    assert_error_response(viewer.get(place), 404, "ENTRY_NOT_FOUND")
    assert_error_response(viewer.get(f"{place}&x=1"), 400, "INVALID_PARAMETER")


def test_strangers_are_not_told(client_for):
    first, second = CatalogEntryFactory.create_batch(2)

    assert_error_response(
        ask(client_for(None), first, second), 403, "PERMISSION_DENIED"
    )
