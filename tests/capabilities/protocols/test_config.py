from pathlib import Path

import pytest

from capabilities.kinds import discoverable_kinds, kinds, removal_breaks_clients
from capabilities.parsers import (
    can_be_probed,
    connection_for,
    media_type_for,
    source_for,
    try_parse,
)
from capabilities.protocols.config.parser import ConfigCapability, ConfigParser

DATA = Path(__file__).parents[2] / "data/config"


def sample(name: str) -> bytes:
    return (DATA / name).read_bytes()


def agent(*lines: str, name: str = "Analyst") -> bytes:
    """An agent that can do `a`, unless the lines say otherwise."""
    listed = [] if any("capabilities:" in x for x in lines) else ["capabilities: [a]"]
    return "\n".join(["---", f"name: {name}", *listed, *lines, "---", ""]).encode()


def told(problems) -> list[tuple[str, str]]:
    return [(problem.path, problem.message) for problem in problems]


def test_the_seeds_own_agent_is_read():
    reading = try_parse(sample("data_analyzer.md"))

    assert reading.is_valid
    assert not reading.warnings
    assert (reading.protocol, reading.record.name) == ("config", "DataAnalyzer")
    assert reading.record.endpoint == "config:DataAnalyzer"
    assert not can_be_probed("config", reading.record.endpoint)
    analysis, report = reading.record.capabilities
    assert (analysis.name, report.name) == ("data-analysis", "report-generation")
    assert analysis.properties == {
        "metadata": {
            "supported_formats": ["csv", "json", "xlsx"],
            "max_file_size": "10MB",
            "processing_time": "fast",
        }
    }
    assert report.metadata["template_support"] is True


def test_toml_front_matter_says_the_same():
    reading = try_parse(sample("translator.md"))

    record = reading.record
    assert not reading.warnings
    assert (record.name, record.version) == ("Translator", "1.2.0")
    assert record.description == "Translates contracts and keeps their terms of art."
    assert record.capabilities == (
        ConfigCapability(
            name="translation",
            metadata={"languages": ["de", "en", "pl"], "since": "2026-01-01"},
        ),
        ConfigCapability(name="text-analysis"),
    )


def test_a_whole_file_of_toml_is_an_agent_too():
    reading = try_parse(sample("reporter.toml"))

    assert reading.record.endpoint == "config:Reporter"
    assert reading.record.capabilities[0].metadata == {"formats": ["pdf", "html"]}
    message = "unknown member; kept, not interpreted"
    assert told(reading.warnings) == [("$.system_prompt", message)]


def test_everything_that_is_wrong_is_told_with_its_path():
    reading = try_parse(sample("everything_wrong.md"))

    kebab = "must be lowercase words joined by hyphens, such as data-analysis"
    assert reading.protocol == "config"
    assert told(reading.errors) == [
        ("$.name", "must be a non-empty string"),
        ("$.capabilities[0]", kebab),
        ("$.capabilities[1]", "is reserved"),
        ("$.capabilities[2]", "is reserved"),
        ("$.capabilities[3]", "must be a string"),
        ("$.capabilities[6]", kebab),
    ]
    assert [problem.path for problem in reading.warnings] == [
        "$.model",
        "$.description",
        "$.version",
        "$.capability_metadata.data-analysis",
        "$.capabilities[4]",
        "$.capabilities[5]",
        "$.capability_metadata.web-search",
    ]


@pytest.mark.parametrize(
    ("stated", "version"),
    [
        ("a:v2.0", "2.0.0"),
        ("a:v2", "2.0.0"),
        ("a:2.1.3", "2.1.3"),
        ("a:v02.01", "2.1.0"),
    ],
)
def test_a_version_in_a_name_is_taken_off_it_with_a_warning(stated, version):
    reading = try_parse(agent(f"capabilities: ['{stated}']"))

    assert reading.record.capabilities[0].properties == {
        "metadata": {},
        "version": version,
    }
    message = f"names have no versions; read as 'a' in version {version}"
    assert told(reading.warnings) == [("$.capabilities[0]", message)]


@pytest.mark.parametrize("key", ["a", "'a:v2'"])
def test_metadata_is_found_under_the_name_with_and_without_its_version(key):
    metadata = f"capability_metadata: {{{key}: {{x: 1}}}}"
    reading = try_parse(agent("capabilities: ['a:v2']", metadata))

    assert reading.record.capabilities[0].metadata == {"x": 1}
    assert len(reading.warnings) == 1


@pytest.mark.parametrize(
    "stated",
    [
        *("", "A", "a b", "a_b", "-a", "a-", "a--b", "1a", "ä"),
        *("a:v1.2.3.4", "a:", ":v1", "health", "cap-reg-1", "health:v1", "x" * 101),
    ],
)
def test_a_name_that_will_not_do_is_an_error_where_it_stands(stated):
    reading = try_parse(agent(f"capabilities: [fine, '{stated}']"))

    assert [problem.path for problem in reading.errors] == ["$.capabilities[1]"]


@pytest.mark.parametrize("stated", ["a", "a1-2b", "translation", "x" * 100, "healthy"])
def test_other_names_will(stated):
    assert try_parse(agent(f"capabilities: [{stated}]")).valid


def test_a_name_listed_twice_is_kept_once():
    reading = try_parse(agent("capabilities: [a, b, a, 'a:v2']"))

    assert [c.name for c in reading.record.capabilities] == ["a", "b"]
    assert [p.path for p in reading.warnings] == [
        "$.capabilities[2]",
        "$.capabilities[3]",
        "$.capabilities[3]",
    ]


@pytest.mark.parametrize("listed", ["[]", "a", "", "{a: 1}"])
def test_without_a_list_of_names_it_is_no_agent(listed):
    reading = try_parse(agent(f"capabilities: {listed}"), "config")

    message = "must be a non-empty list of names"
    assert told(reading.errors) == [("$.capabilities", message)]


def test_metadata_that_is_no_object_is_told():
    reading = try_parse(agent("capability_metadata: {a: 1}"))
    assert reading.record.capabilities[0].metadata == {}
    assert [p.path for p in reading.warnings] == ["$.capability_metadata.a"]

    reading = try_parse(agent("capability_metadata: [a]"))
    assert [p.path for p in reading.warnings] == ["$.capability_metadata"]

    assert not try_parse(agent("capability_metadata: {a: }")).warnings


@pytest.mark.parametrize(("stated", "version"), [("2", "2"), ("1.5", "1.5")])
def test_a_version_without_quotes_is_read_with_a_warning(stated, version):
    reading = try_parse(agent(f"version: {stated}"))

    assert reading.record.version == version
    assert [p.path for p in reading.warnings] == ["$.version"]


@pytest.mark.parametrize(
    "document",
    [
        {"name": "x", "capabilities": ["a"]},
        {"name": "x", "capabilities": []},
        {"name": 5, "capabilities": [1]},
        {"capabilities": ["a"], "capability_metadata": {}},
    ],
)
def test_it_is_recognised_however_faulty(document):
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
    ],
)
def test_other_documents_are_left_to_others(document):
    assert not ConfigParser().recognizes(document)


def test_a_card_in_yaml_is_still_a_card():
    card = b"---\nname: x\nurl: https://x.example/\nskills: [{name: a}]\n---\n"

    assert try_parse(card).protocol == "a2a"


def test_its_kind_is_discoverable_and_relied_on():
    assert kinds.get("config.capability").label == "Config Capability"
    assert "config.capability" in discoverable_kinds()
    assert removal_breaks_clients("config.capability")


def test_there_is_nothing_to_connect_to_and_it_says_so():
    connection = connection_for(sample("data_analyzer.md"), "config")

    assert not connection.endpoints
    assert connection.unavailable_reason.startswith("There is no address")


def test_its_source_and_the_type_of_its_bytes_are_its_own():
    assert (source_for("config"), source_for("a2a"), source_for("?")) == (
        "config",
        "",
        "",
    )
    assert media_type_for("config") == "text/plain; charset=utf-8"
    assert media_type_for("a2a") == media_type_for("?") == "application/json"
