"""The metadata filter of routing decisions."""

import json

import pytest

from catalog.models import Status
from tests.api_errors import assert_error_response
from tests.routing.api.requests import (
    get_agent_names,
    get_decision,
    request_decision,
)
from tests.routing.factories import create_registration

pytestmark = pytest.mark.django_db

METADATA = {
    "formats": ["csv", "json", 1, True, ["a"], {"b": 1}],
    "size": "10MB",
    "count": 1,
    "share": 0.5,
    "fast": True,
    "nothing": None,
    "empty": [],
    "limits": {"cpu": 2},
}
MATCHING_FILTERS = [
    {},
    {"size": "10MB"},
    {"count": 1},
    {"count": 1.0},
    {"share": 0.5},
    {"fast": True},
    {"nothing": None},
    {"formats": "csv"},
    {"formats": ["csv"]},
    {"formats": ["json", "csv"]},
    {"formats": []},
    {"formats": 1},
    {"formats": True},
    {"formats": [["a"]]},
    {"formats": {"b": 1}},
    {"empty": []},
    {"limits": {"cpu": 2}},
    {"size": "10MB", "formats": "json", "fast": True},
]
NON_MATCHING_FILTERS = [
    {"size": "10mb"},
    {"size": "10"},
    {"count": "1"},
    {"count": True},
    {"fast": 1},
    {"fast": "true"},
    {"nothing": False},
    {"missing": None},
    {"missing": []},
    {"formats": "xml"},
    {"formats": ["csv", "xml"]},
    {"formats": "cs"},
    {"formats": ["a"]},
    {"empty": ["a"]},
    {"empty": "a"},
    {"size": ["10MB"]},
    {"limits": {}},
    {"limits": {"cpu": 2, "gpu": 1}},
    {"size": "10MB", "formats": "xml"},
    {"Size": "10MB"},
]


@pytest.mark.parametrize("metadata_filter", MATCHING_FILTERS, ids=json.dumps)
def test_provider_with_matching_metadata_is_returned(viewer_api, metadata_filter):
    create_registration("A", metadata=METADATA)

    assert get_agent_names(viewer_api, metadata_filter=json.dumps(metadata_filter)) == [
        "A"
    ]


@pytest.mark.parametrize("metadata_filter", NON_MATCHING_FILTERS, ids=json.dumps)
def test_provider_without_matching_metadata_is_not_returned(
    viewer_api, metadata_filter
):
    create_registration("A", metadata=METADATA)

    assert (
        get_agent_names(viewer_api, metadata_filter=json.dumps(metadata_filter)) == []
    )


def test_metadata_filter_distinguishes_one_and_true_in_nested_object(viewer_api):
    create_registration("A", metadata={"limits": {"gpu": True}})

    assert get_agent_names(viewer_api, metadata_filter='{"limits": {"gpu": 1}}') == []


def test_totals_count_matching_providers_regardless_of_health(viewer_api):
    create_registration("Healthy", metadata={"a": 1})
    create_registration("Offline", metadata={"a": 1}, status=Status.OFFLINE)
    create_registration("Other", metadata={"a": 2})
    decision = get_decision(viewer_api, metadata_filter='{"a": 1}')

    assert [provider["agent_name"] for provider in decision["providers"]] == ["Healthy"]
    assert (decision["total_providers"], decision["healthy_providers"]) == (2, 1)


def test_empty_metadata_filter_is_ignored(viewer_api):
    create_registration("A")

    assert get_agent_names(viewer_api, metadata_filter="") == ["A"]


INVALID_FILTERS = ["{", "csv", "[]", "null", '"a"', "1", "true", "{'a': 1}"]
INVALID_FILTERS += ['{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', "[" * 5_000]
INVALID_FILTERS += ['{"a": 1, "a": 2}', '{"a": "\\u0000"}', '{"a": "\\ud800"}']
INVALID_FILTERS += ['{"a":' * 5_000 + "1" + "}" * 5_000, '{"a": ' + "9" * 5_000 + "}"]


@pytest.mark.parametrize("text", INVALID_FILTERS, ids=lambda text: ascii(text)[:20])
def test_invalid_metadata_filter_returns_422(viewer_api, text):
    create_registration("A")
    response = request_decision(viewer_api, metadata_filter=text)

    assert_error_response(response, 422, "METADATA_FILTER_INVALID")
