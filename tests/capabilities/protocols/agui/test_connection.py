import shlex
from dataclasses import replace

import pytest
from ag_ui.core import RunAgentInput

from capabilities.connections import UNSAFE_COMMAND
from capabilities.health_requests import HealthRequest
from capabilities.parsers import can_be_probed
from capabilities.problems import Problem
from capabilities.protocols.agui import AGUIParser
from capabilities.protocols.agui.health import NO_PAGE_EXPECTED, OBJECT_EXPECTED

from .declarations import (
    URL,
    get_unique_paths,
    load_sample,
    parse_document,
    parse_record,
)

# Endpoint and name


def test_agui_endpoint_without_url_is_made_from_name():
    record, _ = parse_record({"identity": {"name": "Concierge"}})

    assert record.endpoint == "agui:Concierge"
    assert not can_be_probed(record.protocol, record.endpoint)


@pytest.mark.parametrize("identity", [{}, {"type": "langgraph"}, {"name": "  "}])
def test_endpoint_is_required_without_url_and_name(identity):
    result = parse_document({"identity": identity}, endpoint="")

    message = "must have `url` or `identity.name`, unless an endpoint is submitted too"
    assert result.errors == [Problem("$", message)]


@pytest.mark.parametrize("url", ["ftp://a.example", "", 7])
def test_invalid_url_is_an_error_with_path(url):
    _, problems = parse_record({"identity": {"name": "n"}, "url": url})

    assert get_unique_paths(problems.errors) == {"$.url"}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"identity": {"name": "Ada", "type": "crewai"}}, "Ada"),
        ({"identity": {"type": "langgraph"}, "state": {"memory": True}}, "langgraph"),
        ({"tools": {"items": [{"name": "t", "description": "d"}]}}, "t"),
        ({"transport": {"streaming": True}}, URL),
    ],
)
def test_display_name_never_comes_from_a_flag(document, name):
    assert parse_document(document).record.display_name == name


def test_long_endpoint_as_display_name_is_valid():
    result = parse_document({"state": {}}, endpoint=URL + "a" * 500)

    assert result.is_valid


# Health requests and connection


@pytest.mark.parametrize(
    ("endpoint", "capabilities_url"),
    [
        ("https://a.example", "https://a.example/capabilities"),
        ("https://a.example/", "https://a.example/capabilities"),
        ("https://a.example/api//", "https://a.example/api/capabilities"),
        ("https://a.example/api?t=1#x", "https://a.example/api/capabilities?t=1"),
    ],
)
def test_health_requests_try_capabilities_then_endpoint(endpoint, capabilities_url):
    health_requests = AGUIParser().health_requests(endpoint, "")

    assert health_requests == [
        HealthRequest(
            capabilities_url,
            headers={"Accept": "application/json"},
            expectation=OBJECT_EXPECTED,
        ),
        HealthRequest(
            endpoint,
            only_after_statuses=(404, 410, 501),
            expectation=NO_PAGE_EXPECTED,
        ),
    ]


def test_connection_snippet_is_a_valid_ag_ui_run():
    record, _ = parse_record(load_sample("concierge") | {"url": URL})
    connection = AGUIParser().build_connection({}, record)
    arguments = shlex.split(connection.snippets[0].text.replace("\\\n", ""))

    assert [endpoint.address for endpoint in connection.endpoints] == [URL]
    assert URL in arguments
    assert RunAgentInput.model_validate_json(arguments[arguments.index("-d") + 1])


def test_command_with_deceptive_characters_is_not_shown():
    record, _ = parse_record(load_sample("concierge") | {"url": URL})
    hostile_record = replace(record, endpoint=f"{URL}/\u202egnp.sh")
    connection = AGUIParser().build_connection({}, hostile_record)

    (option,) = connection.options
    assert (option.snippets, option.note) == ([], UNSAFE_COMMAND)


def test_connection_without_url_has_only_a_reason():
    record, _ = parse_record({"identity": {"name": "n"}})
    connection = AGUIParser().build_connection({}, record)

    assert connection.unavailable_reason
    assert (connection.endpoints, connection.options) == ([], [])
