import json
import shlex
import subprocess
import sys
from dataclasses import fields

import pytest
from ag_ui.core import RunAgentInput

from capabilities.health_requests import HealthRequest
from capabilities.parsers import can_be_probed, parsers
from capabilities.protocols.a2a import A2AParser
from capabilities.protocols.agh import AGHParser
from capabilities.protocols.agui import AGUIParser
from capabilities.protocols.config.parser import ConfigParser
from capabilities.protocols.mcp import MCPParser
from capabilities.records import ProviderRecord
from catalog.web.icons import ICONS

from .reading import DATA, SAMPLES, URL, features, offered, parse, paths, read, sample

OTHERS = [A2AParser(), MCPParser(), AGHParser(), ConfigParser()]
DOCUMENTS = sorted(
    path
    for root in (DATA, SAMPLES)
    for path in root.glob("*/*.json")
    if path.parent.name != "agui"
)


# Recognising


@pytest.mark.parametrize(
    "name", ["seed_concierge", "snake_gardener", "wild_courier", "event_matrix"]
)
def test_its_documents_are_recognised_and_by_nobody_else(name):
    document = sample(name)

    assert AGUIParser().recognizes(document)
    for placed in (document, document | {"url": URL}):
        assert not any(other.recognizes(placed) for other in OTHERS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_documents_of_others_are_left_to_them(path):
    document = json.loads(path.read_text())
    documents = document if isinstance(document, list) else [document]

    assert not any(
        AGUIParser().recognizes(each) for each in documents if isinstance(each, dict)
    )


@pytest.mark.parametrize(
    "document",
    [
        {"url": URL, "skills": [], "output": {}},
        {"supportedInterfaces": [], "tools": {}},
        {"serverInfo": {"name": "s"}, "tools": {}},
        {"url": URL, "transport": {"type": "sse"}},
        {"url": URL, "transport": "http", "output": {}},
        {"url": URL, "capabilities": {"tools": {}}, "transport": {}},
        {"protocolVersion": "2025-06-18", "transport": {}},
        {"tools": [{"name": "t", "inputSchema": {}}], "output": {}},
        {"name": "io.x/y", "description": "", "version": "1", "transport": {}},
        {"peer_id": "p", "profiles_supported": [], "capabilities": [], "state": {}},
        {"name": "n", "capabilities": ["c"], "custom": {}},
    ],
)
def test_where_another_protocol_sees_its_own_no_order_matters(document):
    assert any(other.recognizes(document) for other in OTHERS)
    assert not AGUIParser().recognizes(document)


@pytest.mark.parametrize(
    "document", [{}, {"transport": True}, {"url": URL}, {"name": "x"}, {"tools": []}]
)
def test_without_a_category_nothing_is_recognised(document):
    assert not AGUIParser().recognizes(document)


def test_a_schema_of_its_own_does_not_make_it_foreign():
    schema = {"$schema": "https://ag-ui.com/spec/1.0/schema.json", "state": {}}

    assert AGUIParser().recognizes(schema)
    assert read(schema).warnings == []


def test_nothing_declared_is_a_definition_when_the_protocol_is_given():
    given, detected = read({}), read({}, protocol="")

    assert given.valid
    assert given.record.capabilities == ()
    assert given.record.display_name == URL
    assert "known protocol" in detected.errors[0].message


@pytest.mark.parametrize("protocol", ["", "agui"])
def test_the_event_matrix_is_refused_for_what_it_is(protocol):
    reading = read(sample("event_matrix"), protocol)

    assert [problem.path for problem in reading.errors] == ["$"]
    assert "matrix of events and features that AWS Strands" in reading.errors[0].message


def test_what_has_no_category_is_refused_even_when_the_protocol_is_given():
    assert "none of AG-UI's categories" in read({"x": 1}).errors[0].message


# What it says


def test_every_field_of_the_seed_is_read():
    record, problems = parse(sample("seed_concierge") | {"url": URL})

    assert (problems.errors, problems.warnings) == ([], [])
    assert (record.name, record.version) == ("Concierge", "2.1.0")
    assert record.description == "Looks after the guests of a hotel"
    assert record.provider == ProviderRecord("Grand Hotel")
    assert record.endpoint == URL
    assert features(record) == {
        "identity.documentationUrl": "https://hotel.example/docs",
        "identity.metadata.floor": 3,
        "transport.streaming": True,
        "transport.websocket": False,
        "transport.httpBinary": True,
        "transport.pushNotifications": False,
        "transport.resumable": True,
        "tools.supported": True,
        "tools.parallelCalls": False,
        "tools.clientProvided": True,
        "output.structuredOutput": True,
        "output.supportedMimeTypes": ["text/plain", "application/json"],
        "state.snapshots": True,
        "state.deltas": False,
        "state.memory": True,
        "state.persistentState": False,
        "multiAgent.supported": True,
        "multiAgent.delegation": True,
        "multiAgent.handoffs": False,
        "reasoning.supported": True,
        "reasoning.streaming": False,
        "reasoning.encrypted": True,
        "multimodal.input.image": True,
        "multimodal.output.image": False,
        "multimodal.input.audio": True,
        "multimodal.output.audio": False,
        "multimodal.input.video": True,
        "multimodal.input.pdf": False,
        "multimodal.input.file": True,
        "execution.codeExecution": False,
        "execution.sandboxed": True,
        "execution.maxIterations": 12,
        "execution.maxExecutionTime": 30000,
        "humanInTheLoop.supported": True,
        "humanInTheLoop.approvals": True,
        "humanInTheLoop.interventions": False,
        "humanInTheLoop.feedback": True,
        "custom.rateLimit.maxRequestsPerMinute": 60,
        "custom.gdpr": True,
        "custom.stars": 5,
        "custom.languages": ["de", "fr"],
    }


def test_tools_and_subagents_are_what_it_offers():
    record, _ = parse(sample("seed_concierge"))
    (tool,) = offered(record, "agui.tool")

    assert (tool.name, tool.description) == (
        "book_table",
        "Reserve a table in the restaurant",
    )
    assert tool.properties["parameters"]["type"] == "object"
    assert [(s.name, s.description) for s in offered(record, "agui.subagent")] == [
        ("porter", "Carries the luggage"),
        ("barkeeper", ""),
    ]


def test_what_cannot_be_meant_is_told_at_its_place_and_left_out():
    reading = read(sample("wild_courier"))

    assert reading.is_valid
    assert paths(reading.warnings) == {
        "$.identity.version",
        "$.identity.mood",
        "$.transport.streaming",
        "$.tools.items[0].description",
        "$.tools.items[1].name",
        "$.tools.items[2]",
        "$.tools.items[3].metadata",
        "$.tools.parallelCalls",
        "$.output.supportedMimeTypes[1]",
        "$.state",
        "$.execution.maxIterations",
        "$.execution.maxExecutionTime",
        "$.multiAgent.subagents",
        "$.wireShape",
    }
    assert features(reading.record) == {
        "transport.resumable": True,
        "output.supportedMimeTypes": ["text/plain"],
    }
    assert [t.name for t in offered(reading.record, "agui.tool")] == ["ship", "track"]


def test_a_warning_names_the_path_that_was_written():
    faulty = {"multi_agent": {"sub_agents": [{}]}, "multimodal": {"pdfInput": 1}}

    assert paths(read(faulty).warnings) == {
        "$.multi_agent.sub_agents[0].name",
        "$.multimodal.pdfInput",
    }


def test_contradicting_spellings_are_told():
    both = {"multimodal": {"imageInput": False, "input": {"image": True}}}
    reading = read(both)

    assert paths(reading.warnings) == {"$.multimodal.imageInput"}
    assert features(reading.record) == {"multimodal.input.image": True}


def test_tools_that_are_switched_off_are_not_offered():
    off = {"tools": {"supported": False, "items": [{"name": "t", "description": "d"}]}}
    reading = read(off)

    assert offered(reading.record, "agui.tool") == []
    assert features(reading.record) == {"tools.supported": False}
    assert paths(reading.warnings) == {"$.tools.items"}


def test_two_tools_of_one_name_are_both_kept():
    twins = [{"name": "t", "description": "one"}, {"name": "t", "description": "two"}]
    record = read({"tools": {"items": twins}}).record

    assert [t.name for t in offered(record, "agui.tool")] == ["t", "t (2)"]


def test_custom_members_are_features_by_their_whole_names():
    """The seed's own examples are objects."""
    custom = {
        "rateLimit": {"maxRequestsPerMinute": 60},
        "billing": {"tier": "enterprise", "credits": 1.5},
        "compliance": {"gdpr": True, "hipaa": False},
        "mixed": [1, {"x": 2}],
        "nothing": None,
    }
    reading = read({"custom": custom})

    assert reading.warnings == []
    assert features(reading.record) == {
        "custom.rateLimit.maxRequestsPerMinute": 60,
        "custom.billing.tier": "enterprise",
        "custom.billing.credits": 1.5,
        "custom.compliance.gdpr": True,
        "custom.compliance.hipaa": False,
        "custom.mixed": [1, {"x": 2}],
    }


def test_of_endless_custom_members_the_first_are_read():
    custom = {f"k{n}": n for n in range(150)} | {"k" * 600: True}
    endless, long = read({"custom": custom}), read({"custom": {"k" * 600: True}})

    assert len(features(endless.record)) == 100
    assert paths(endless.warnings) == {"$.custom"}
    assert features(long.record) == {}
    assert len(long.warnings) == 1


def test_of_the_identity_what_the_catalog_does_not_keep_is_a_feature():
    identity = {
        "name": "Painter",
        "version": "1",
        "type": "langgraph",
        "documentationUrl": "https://d.example",
        "metadata": {"team": {"colour": "blue"}},
    }
    assert features(read({"identity": identity}).record) == {
        "identity.type": "langgraph",
        "identity.documentationUrl": "https://d.example",
        "identity.metadata.team.colour": "blue",
    }


# Who and where it is


def test_without_an_address_its_name_stands_for_one():
    record, _ = parse({"identity": {"name": "Concierge"}})

    assert record.endpoint == "agui:Concierge"
    assert not can_be_probed(record.protocol, record.endpoint)


@pytest.mark.parametrize("identity", [{}, {"type": "langgraph"}, {"name": "  "}])
def test_without_address_and_name_an_endpoint_is_needed(identity):
    reading = read({"identity": identity}, endpoint="")

    assert [problem.path for problem in reading.errors] == ["$"]
    assert "needs an endpoint" in reading.errors[0].message


@pytest.mark.parametrize("url", ["ftp://a.example", "", 7])
def test_an_address_that_is_none_is_an_error_at_its_place(url):
    _, problems = parse({"identity": {"name": "n"}, "url": url})

    assert paths(problems.errors) == {"$.url"}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"identity": {"name": "Ada", "type": "crewai"}}, "Ada"),
        ({"identity": {"type": "langgraph"}, "state": {"memory": True}}, "langgraph"),
        ({"tools": {"items": [{"name": "t", "description": "d"}]}}, "t"),
        ({"transport": {"streaming": True}}, URL),
    ],
)
def test_a_flag_is_never_what_an_agent_is_called(document, name):
    assert read(document).record.display_name == name


def test_an_endless_address_is_no_error_for_being_the_name():
    reading = read({"state": {}}, endpoint=URL + "a" * 500)

    assert reading.is_valid


# Asking, connecting


@pytest.mark.parametrize(
    ("endpoint", "place"),
    [
        ("https://a.example", "https://a.example/capabilities"),
        ("https://a.example/", "https://a.example/capabilities"),
        ("https://a.example/api//", "https://a.example/api/capabilities"),
        ("https://a.example/api?t=1#x", "https://a.example/api/capabilities?t=1"),
    ],
)
def test_its_capabilities_are_asked_for_first_then_the_agent_itself(endpoint, place):
    health_requests = AGUIParser().health_requests(endpoint, "")

    assert health_requests == [
        HealthRequest(place, headers={"Accept": "application/json"}),
        HealthRequest(endpoint, only_after_statuses=(404, 410, 501)),
    ]


def test_the_snippet_is_a_run_that_ag_ui_takes():
    record, _ = parse(sample("seed_concierge") | {"url": URL})
    connection = AGUIParser().connection({}, record)
    words = shlex.split(connection.snippet.replace("\\\n", ""))

    assert [way.address for way in connection.endpoints] == [URL]
    assert URL in words
    assert RunAgentInput.model_validate_json(words[words.index("-d") + 1])


def test_an_agent_without_address_cannot_be_connected_to():
    record, _ = parse({"identity": {"name": "n"}})
    connection = AGUIParser().connection({}, record)

    assert connection.unavailable_reason
    assert (connection.endpoints, connection.snippet) == ([], "")


# Kinds


def test_both_kinds_are_discoverable_and_tools_relied_on():
    assert [
        (k.slug, k.discoverable, k.removal_breaks_clients) for k in AGUIParser.kinds
    ] == [
        ("agui.tool", True, True),
        ("agui.subagent", True, False),
    ]


@pytest.mark.parametrize("kind", AGUIParser.kinds, ids=lambda kind: kind.slug)
def test_a_kind_has_an_icon_and_its_record_class(kind):
    assert kind.icon in ICONS
    assert kind.record_class.kind == kind.slug
    assert {*kind.list_properties, *kind.search_properties} <= {
        f.name for f in fields(kind.record_class)
    }


def test_records_can_be_made_again_from_what_is_stored():
    record = read(sample("seed_concierge")).record

    for each in record.capabilities:
        stored = json.loads(json.dumps(each.properties))
        assert type(each).from_stored(each.name, each.description, stored) == each


def test_parsing_does_not_wait_for_ag_uis_models():
    code = (
        "import capabilities.protocols.agui.snapshot, sys;print('ag_ui' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"


# Samples from the world, where the folder is at hand


@pytest.mark.skipif(
    not (SAMPLES / "agui").is_dir(), reason=f"no AG-UI samples in {SAMPLES}"
)
def test_samples_are_valid_but_for_the_strands_matrix():
    samples = sorted((SAMPLES / "agui").glob("*.json"))
    assert samples

    for path in samples:
        reading = read(json.loads(path.read_text()), protocol="")
        assert reading.protocol == "agui", path.name
        assert reading.is_valid is not path.name.startswith("strands"), path.name
        assert reading.is_valid or "AWS Strands" in reading.errors[0].message
        assert reading.warnings == [], path.name


def test_the_registry_is_left_as_it_was():
    before = [parser.slug for parser in parsers]
    read(sample("seed_concierge"))

    assert [parser.slug for parser in parsers] == before
