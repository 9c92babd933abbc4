import json
from pathlib import Path

import pytest

from capabilities.kinds import discoverable_kinds, is_removal_breaking, kinds
from capabilities.parsers import (
    can_be_probed,
    get_connection,
    get_media_type,
    get_source,
    try_parse,
)
from capabilities.protocols.config.parser import ConfigCapability, ConfigParser

DATA = Path(__file__).parents[2] / "data/config"


def read_sample(name: str) -> bytes:
    return (DATA / name).read_bytes()


def build_agent(*lines: str, name: str = "Analyst") -> bytes:
    """Return an agent in YAML, with capability `a` unless the lines have others."""
    capabilities = (
        [] if any("capabilities:" in line for line in lines) else ["capabilities: [a]"]
    )
    return "\n".join(
        ["---", f"name: {name}", *capabilities, *lines, "---", ""]
    ).encode()


def get_messages(problems) -> list[tuple[str, str]]:
    return [(problem.path, problem.message) for problem in problems]


def test_yaml_agent_is_parsed():
    result = try_parse(read_sample("data_analyzer.md"))

    assert result.is_valid
    assert not result.warnings
    assert (result.protocol, result.record.name) == ("config", "DataAnalyzer")
    assert result.record.endpoint == "config:DataAnalyzer"
    assert not can_be_probed("config", result.record.endpoint)
    analysis, report = result.record.capabilities
    assert (analysis.name, report.name) == ("data-analysis", "report-generation")
    assert analysis.properties == {
        "metadata": {
            "supported_formats": ["csv", "json", "xlsx"],
            "max_file_size": "10MB",
            "processing_time": "fast",
        }
    }
    assert report.metadata["template_support"] is True


def test_toml_front_matter_is_parsed():
    result = try_parse(read_sample("translator.md"))

    record = result.record
    assert not result.warnings
    assert (record.name, record.version) == ("Translator", "1.2.0")
    assert record.description == "Translates contracts and keeps legal terms."
    assert record.capabilities == (
        ConfigCapability(
            name="translation",
            metadata={"languages": ["de", "en", "pl"], "since": "2026-01-01"},
        ),
        ConfigCapability(name="text-analysis"),
    )


def test_toml_file_is_parsed():
    result = try_parse(read_sample("reporter.toml"))

    assert result.record.endpoint == "config:Reporter"
    assert result.record.capabilities[0].metadata == {"formats": ["pdf", "html"]}
    message = "is an unknown member; stored, but not interpreted"
    assert get_messages(result.warnings) == [("$.system_prompt", message)]


def test_all_problems_are_reported_with_paths():
    result = try_parse(read_sample("invalid_agent.md"))

    kebab = "must be lowercase words joined by hyphens, such as data-analysis"
    assert result.protocol == "config"
    assert get_messages(result.errors) == [
        ("$.name", "must be a non-empty string"),
        ("$.capabilities[0]", kebab),
        ("$.capabilities[1]", "is reserved; choose another name"),
        ("$.capabilities[2]", "is reserved; choose another name"),
        ("$.capabilities[3]", "must be a string"),
        ("$.capabilities[6]", kebab),
    ]
    assert [problem.path for problem in result.warnings] == [
        "$.model",
        "$.description",
        "$.version",
        "$.capability_metadata.data-analysis",
        "$.capabilities[4]",
        "$.capabilities[5]",
        "$.capability_metadata.web-search",
    ]


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("a:v2.0", "2.0.0"),
        ("a:v2", "2.0.0"),
        ("a:2.1.3", "2.1.3"),
        ("a:v02.01", "2.1.0"),
    ],
)
def test_version_in_name_is_split_off_with_a_warning(name, version):
    result = try_parse(build_agent(f"capabilities: ['{name}']"))

    assert result.record.capabilities[0].properties == {
        "metadata": {},
        "version": version,
    }
    message = f"should not contain a version; read as 'a', version {version}"
    assert get_messages(result.warnings) == [("$.capabilities[0]", message)]


@pytest.mark.parametrize("key", ["a", "'a:v2'"])
def test_metadata_is_found_by_name_with_or_without_version(key):
    metadata = f"capability_metadata: {{{key}: {{x: 1}}}}"
    result = try_parse(build_agent("capabilities: ['a:v2']", metadata))

    assert result.record.capabilities[0].metadata == {"x": 1}
    assert len(result.warnings) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("", "A", "a b", "a_b", "-a", "a-", "a--b", "1a", "ä"),
        *("a:v1.2.3.4", "a:", ":v1", "health", "cap-reg-1", "health:v1", "x" * 101),
    ],
)
def test_invalid_name_is_an_error_with_path(name):
    result = try_parse(build_agent(f"capabilities: [fine, '{name}']"))

    assert [problem.path for problem in result.errors] == ["$.capabilities[1]"]


@pytest.mark.parametrize("name", ["a", "a1-2b", "translation", "x" * 100, "healthy"])
def test_valid_name_is_accepted(name):
    assert try_parse(build_agent(f"capabilities: [{name}]")).is_valid


def test_repeated_name_is_listed_once_with_a_warning():
    result = try_parse(build_agent("capabilities: [a, b, a, 'a:v2']"))

    assert [capability.name for capability in result.record.capabilities] == ["a", "b"]
    assert [problem.path for problem in result.warnings] == [
        "$.capabilities[2]",
        "$.capabilities[3]",
        "$.capabilities[3]",
    ]


@pytest.mark.parametrize("capabilities", ["[]", "a", "", "{a: 1}"])
def test_missing_or_empty_capabilities_are_an_error(capabilities):
    result = try_parse(build_agent(f"capabilities: {capabilities}"), "config")

    message = "must be a non-empty list of names"
    assert get_messages(result.errors) == [("$.capabilities", message)]


def test_metadata_of_wrong_type_is_a_warning():
    result = try_parse(build_agent("capability_metadata: {a: 1}"))
    assert result.record.capabilities[0].metadata == {}
    assert [problem.path for problem in result.warnings] == ["$.capability_metadata.a"]

    result = try_parse(build_agent("capability_metadata: [a]"))
    assert [problem.path for problem in result.warnings] == ["$.capability_metadata"]

    assert not try_parse(build_agent("capability_metadata: {a: }")).warnings


@pytest.mark.parametrize(("text", "version"), [("2", "2"), ("1.5", "1.5")])
def test_unquoted_version_is_a_warning(text, version):
    result = try_parse(build_agent(f"version: {text}"))

    assert result.record.version == version
    assert [problem.path for problem in result.warnings] == ["$.version"]


@pytest.mark.parametrize(
    "document",
    [
        {"name": "x", "capabilities": ["a"]},
        {"name": "x", "capabilities": []},
        {"name": 5, "capabilities": [1]},
        {"capabilities": ["a"], "capability_metadata": {}},
    ],
)
def test_invalid_configuration_agent_is_recognized(document):
    assert ConfigParser().recognizes(document)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"name": "x"},
        {"capabilities": ["a"]},
        {"name": "x", "capabilities": {"streaming": True}},
        {"name": "x", "capabilities": "a"},
        {"name": "x", "capabilities": [{"id": "a"}]},
        {"name": "x", "capabilities": ["a"], "skills": []},
        {"name": "x", "capabilities": ["a"], "url": "https://x.example"},
        {"name": "x", "capabilities": ["a"], "serverInfo": {}},
        {"name": "x", "capabilities": ["a"], "peer_id": "x"},
        {"name": "x", "capabilities": ["a"], "endpoints": {"chat": "/chat"}},
        {"name": "x", "capabilities": ["a"], "$schema": "https://x.example/agent"},
        {"name": "x", "capabilities": ["a"], "protocols": ["http"]},
        {"name": "x", "capabilities": ["a"], "tools": [{"name": "t"}]},
    ],
)
def test_other_document_is_not_recognized_as_configuration_agent(document):
    assert not ConfigParser().recognizes(document)


@pytest.mark.parametrize(
    "members", [{"endpoints": ["/a"]}, {"$schema": "https://a.example"}, {"url": "/"}]
)
def test_json_of_a_service_is_no_configuration_agent_t12(members):
    document = {"name": "x", "capabilities": ["web search"], **members}
    result = try_parse(json.dumps(document).encode())

    assert result.is_unknown_protocol
    (problem,) = result.errors
    assert problem.message == (
        "is the description of a service that lists names of capabilities, which is"
        " not supported; configuration agents have no URL, so register the A2A card or"
        " the MCP server of the service"
    )


@pytest.mark.parametrize("line", ["url: https://x.example", "tools: Read", "skills: a"])
def test_front_matter_with_members_of_services_is_a_configuration_agent(line):
    result = try_parse(build_agent(line))

    assert (result.protocol, result.is_valid) == ("config", True)
    assert [problem.path for problem in result.warnings] == [f"$.{line.split(':')[0]}"]


def test_json_without_members_of_services_is_a_configuration_agent():
    result = try_parse(b'{"name": "Analyst", "capabilities": ["data-analysis"]}')

    assert (result.protocol, result.is_valid) == ("config", True)


def test_a2a_card_in_yaml_is_detected_as_a2a():
    card = b"---\nname: x\nurl: https://x.example/\nskills: [{name: a}]\n---\n"

    assert try_parse(card).protocol == "a2a"


def test_kind_is_discoverable_and_removal_breaks_clients():
    assert kinds.get("config.capability").label == "Config Capability"
    assert "config.capability" in discoverable_kinds()
    assert is_removal_breaking("config.capability")


def test_connection_has_reason_instead_of_endpoint():
    connection = get_connection(read_sample("data_analyzer.md"), "config")

    assert not connection.endpoints
    assert connection.unavailable_reason.startswith("The agent has no URL")


def test_config_parser_has_source_and_media_type():
    assert (get_source("config"), get_source("a2a"), get_source("?")) == (
        "config",
        "",
        "",
    )
    assert get_media_type("config") == "text/plain; charset=utf-8"
    assert get_media_type("a2a") == get_media_type("?") == "application/json"
