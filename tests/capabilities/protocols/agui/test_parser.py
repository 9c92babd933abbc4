import json
import subprocess
import sys
from dataclasses import fields

import pytest

from capabilities.parsers import parsers
from capabilities.protocols.a2a import A2AParser
from capabilities.protocols.agh import AGHParser
from capabilities.protocols.agui import AGUIParser
from capabilities.protocols.config.parser import ConfigParser
from capabilities.protocols.mcp import MCPParser
from capabilities.records import ProviderRecord
from catalog.web.icons import ICONS
from tests.capabilities.protocols.samples import get_feature_values, select_capabilities

from .declarations import (
    DATA,
    SAMPLES,
    URL,
    get_unique_paths,
    load_sample,
    parse_document,
    parse_record,
)

OTHER_PARSERS = [A2AParser(), MCPParser(), AGHParser(), ConfigParser()]
OTHER_SAMPLES = sorted(
    path
    for root in (DATA, SAMPLES)
    for path in root.glob("*/*.json")
    if path.parent.name != "agui"
)


# Detection


@pytest.mark.parametrize(
    "name",
    [
        "concierge",
        "snake_case_gardener",
        "courier_with_invalid_members",
        "event_matrix",
    ],
)
def test_agui_samples_are_recognized_only_by_agui(name):
    document = load_sample(name)

    assert AGUIParser().recognizes(document)
    for candidate in (document, document | {"url": URL}):
        assert not any(parser.recognizes(candidate) for parser in OTHER_PARSERS)


@pytest.mark.parametrize("path", OTHER_SAMPLES, ids=lambda path: path.stem)
def test_samples_of_other_protocols_are_not_recognized(path):
    document = json.loads(path.read_text())
    documents = document if isinstance(document, list) else [document]

    assert not any(
        AGUIParser().recognizes(candidate)
        for candidate in documents
        if isinstance(candidate, dict)
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
def test_document_of_another_protocol_is_not_recognized(document):
    assert any(parser.recognizes(document) for parser in OTHER_PARSERS)
    assert not AGUIParser().recognizes(document)


@pytest.mark.parametrize(
    "document", [{}, {"transport": True}, {"url": URL}, {"name": "x"}, {"tools": []}]
)
def test_document_without_category_is_not_recognized(document):
    assert not AGUIParser().recognizes(document)


def test_ag_ui_schema_member_is_accepted():
    schema = {"$schema": "https://ag-ui.com/spec/1.0/schema.json", "state": {}}

    assert AGUIParser().recognizes(schema)
    assert parse_document(schema).warnings == []


def test_empty_document_is_valid_if_protocol_is_given():
    given_result = parse_document({})
    detected_result = parse_document({}, protocol="")

    assert given_result.is_valid
    assert given_result.record.capabilities == ()
    assert given_result.record.display_name == URL
    assert "supported protocol" in detected_result.errors[0].message


@pytest.mark.parametrize("protocol", ["", "agui"])
def test_event_matrix_is_rejected_with_a_reason(protocol):
    result = parse_document(load_sample("event_matrix"), protocol)

    assert [problem.path for problem in result.errors] == ["$"]
    assert "matrix of events and features that AWS Strands" in result.errors[0].message


def test_document_without_category_is_rejected():
    message = (
        "must have at least one of AG-UI's categories, as an object: identity,"
        " transport, tools, output, state, multiAgent, reasoning, multimodal,"
        " execution, humanInTheLoop, custom"
    )
    assert parse_document({"x": 1}).errors[0].message == message


# Members


def test_all_fields_of_concierge_sample_are_parsed():
    record, problems = parse_record(load_sample("concierge") | {"url": URL})

    assert (problems.errors, problems.warnings) == ([], [])
    assert (record.name, record.version) == ("Concierge", "2.1.0")
    assert record.description == "Looks after the guests of a hotel"
    assert record.provider == ProviderRecord("Grand Hotel")
    assert record.endpoint == URL
    assert get_feature_values(record) == {
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


def test_tools_and_subagents_become_capabilities():
    record, _ = parse_record(load_sample("concierge"))
    (tool,) = select_capabilities(record, "agui.tool")

    assert (tool.name, tool.description) == (
        "book_table",
        "Reserve a table in the restaurant",
    )
    assert tool.properties["parameters"]["type"] == "object"
    assert [
        (subagent.name, subagent.description)
        for subagent in select_capabilities(record, "agui.subagent")
    ] == [
        ("porter", "Carries the luggage"),
        ("barkeeper", ""),
    ]


def test_invalid_members_are_warnings_and_are_ignored():
    result = parse_document(load_sample("courier_with_invalid_members"))

    assert result.is_valid
    assert get_unique_paths(result.warnings) == {
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
    assert get_feature_values(result.record) == {
        "transport.resumable": True,
        "output.supportedMimeTypes": ["text/plain"],
    }
    assert [tool.name for tool in select_capabilities(result.record, "agui.tool")] == [
        "ship",
        "track",
    ]


def test_fractional_execution_time_is_kept_t15():
    result = parse_document({"execution": {"maxExecutionTime": 2500.5}, "url": URL})

    assert not result.warnings
    assert get_feature_values(result.record) == {"execution.maxExecutionTime": 2500.5}


def test_warning_has_path_in_original_spelling():
    document = {"multi_agent": {"sub_agents": [{}]}, "multimodal": {"pdfInput": 1}}

    assert get_unique_paths(parse_document(document).warnings) == {
        "$.multi_agent.sub_agents[0].name",
        "$.multimodal.pdfInput",
    }


def test_conflicting_spellings_are_a_warning():
    document = {"multimodal": {"imageInput": False, "input": {"image": True}}}
    result = parse_document(document)

    assert get_unique_paths(result.warnings) == {"$.multimodal.imageInput"}
    assert get_feature_values(result.record) == {"multimodal.input.image": True}


def test_unsupported_tools_are_ignored_with_a_warning():
    document = {
        "tools": {"supported": False, "items": [{"name": "t", "description": "d"}]}
    }
    result = parse_document(document)

    assert select_capabilities(result.record, "agui.tool") == []
    assert get_feature_values(result.record) == {"tools.supported": False}
    assert get_unique_paths(result.warnings) == {"$.tools.items"}


def test_second_agui_tool_of_same_name_is_numbered():
    tools = [{"name": "t", "description": "one"}, {"name": "t", "description": "two"}]
    record = parse_document({"tools": {"items": tools}}).record

    assert [tool.name for tool in select_capabilities(record, "agui.tool")] == [
        "t",
        "t (2)",
    ]


def test_custom_members_become_features_with_full_names():
    custom = {
        "rateLimit": {"maxRequestsPerMinute": 60},
        "billing": {"tier": "enterprise", "credits": 1.5},
        "compliance": {"gdpr": True, "hipaa": False},
        "mixed": [1, {"x": 2}],
        "nothing": None,
    }
    result = parse_document({"custom": custom})

    assert result.warnings == []
    assert get_feature_values(result.record) == {
        "custom.rateLimit.maxRequestsPerMinute": 60,
        "custom.billing.tier": "enterprise",
        "custom.billing.credits": 1.5,
        "custom.compliance.gdpr": True,
        "custom.compliance.hipaa": False,
        "custom.mixed": [1, {"x": 2}],
    }


def test_number_and_length_of_custom_members_are_limited():
    custom = {f"k{n}": n for n in range(150)} | {"k" * 600: True}
    many_members = parse_document({"custom": custom})
    long_name = parse_document({"custom": {"k" * 600: True}})

    assert len(get_feature_values(many_members.record)) == 100
    assert get_unique_paths(many_members.warnings) == {"$.custom"}
    assert get_feature_values(long_name.record) == {}
    assert len(long_name.warnings) == 1


def test_identity_members_without_own_field_become_features():
    identity = {
        "name": "Painter",
        "version": "1",
        "type": "langgraph",
        "documentationUrl": "https://d.example",
        "metadata": {"team": {"color": "blue"}},
    }
    assert get_feature_values(parse_document({"identity": identity}).record) == {
        "identity.type": "langgraph",
        "identity.documentationUrl": "https://d.example",
        "identity.metadata.team.color": "blue",
    }


# Kinds


def test_kinds_are_discoverable_and_tool_removal_breaks_clients():
    assert [
        (kind.slug, kind.discoverable, kind.is_removal_breaking)
        for kind in AGUIParser.kinds
    ] == [
        ("agui.tool", True, True),
        ("agui.subagent", True, False),
    ]


@pytest.mark.parametrize("kind", AGUIParser.kinds, ids=lambda kind: kind.slug)
def test_kind_has_icon_and_record_class(kind):
    assert kind.icon in ICONS
    assert kind.record_class.kind == kind.slug
    assert {*kind.list_properties, *kind.search_properties} <= {
        field.name for field in fields(kind.record_class)
    }


def test_records_survive_storage_round_trip():
    record = parse_document(load_sample("concierge")).record

    for capability in record.capabilities:
        stored = json.loads(json.dumps(capability.properties))
        assert (
            type(capability).from_stored(
                capability.name, capability.description, stored
            )
            == capability
        )


def test_parser_does_not_import_ag_ui():
    code = (
        "import capabilities.protocols.agui.agent_capabilities, sys;"
        "print('ag_ui' in sys.modules)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "False"


# Collected samples, if the folder exists


@pytest.mark.skipif(
    not (SAMPLES / "agui").is_dir(), reason=f"no AG-UI samples in {SAMPLES}"
)
def test_collected_samples_are_valid_except_strands_matrix():
    samples = sorted((SAMPLES / "agui").glob("*.json"))
    assert samples

    for path in samples:
        result = parse_document(json.loads(path.read_text()), protocol="")
        assert result.protocol == "agui", path.name
        assert result.is_valid is not path.name.startswith("strands"), path.name
        assert result.is_valid or "AWS Strands" in result.errors[0].message
        assert result.warnings == [], path.name


def test_temporary_registration_is_undone():
    before = [parser.slug for parser in parsers]
    parse_document(load_sample("concierge"))

    assert [parser.slug for parser in parsers] == before
