import json

import pytest
from ag_ui.core import AgentCapabilities
from hypothesis import given
from hypothesis import strategies as st

from capabilities.features import FEATURES_BY_KEY_PATH, AgentFeature
from capabilities.problems import Problems
from capabilities.protocols.a2a import A2AParser
from capabilities.protocols.a2a.records import A2ASkill
from capabilities.protocols.agui.agent_capabilities import (
    CapabilitiesSource,
    build_agent_capabilities,
)
from capabilities.protocols.mcp import MCPParser
from capabilities.protocols.mcp.records import MCPPrompt, MCPTool
from capabilities.spellings import FLAT_MULTIMODAL_FLAGS
from tests.capabilities.protocols.samples import get_feature_values

from .declarations import DATA, SAMPLES, load_sample, parse_record

SAMPLE_NAMES = ["concierge", "snake_case_gardener", "courier_with_invalid_members"]
COLLECTED_SAMPLES = [
    path
    for path in sorted((SAMPLES / "agui").glob("*.json"))
    if not path.name.startswith("strands")
]


def snapshot_document(document):
    return build_agent_capabilities(CapabilitiesSource(declaration=document))


def snapshot_record(record):
    return build_agent_capabilities(
        CapabilitiesSource(
            name=record.name,
            description=record.description,
            version=record.version,
            capabilities=record.capabilities,
        )
    )


def validate_snapshot(snapshot):
    """Return AG-UI's own model of a snapshot, which must have every member."""
    model = AgentCapabilities.model_validate(snapshot)
    assert model.model_dump(mode="json", by_alias=True) == snapshot
    return model


# AG-UI agents


def test_snapshot_contains_every_member_of_sample():
    document = load_sample("concierge")
    snapshot = snapshot_document(document)

    for category, members in document.items():
        for key, value in members.items():
            assert snapshot[category][key] == value, (category, key)


def test_snapshot_of_older_spelling_has_1_0_members():
    model = validate_snapshot(snapshot_document(load_sample("concierge")))

    assert [subagent.name for subagent in model.multi_agent.subagents] == [
        "porter",
        "barkeeper",
    ]
    assert model.multimodal.input.video is True
    assert model.multimodal.output.image is False
    assert model.execution.max_execution_time == 30000


def test_snapshot_rounds_fractional_execution_time():
    document = {"execution": {"maxExecutionTime": 2500.7, "sandboxed": True}}

    snapshot = snapshot_document(document)

    assert snapshot["execution"] == {"maxExecutionTime": 2501, "sandboxed": True}
    assert AgentCapabilities.model_validate(snapshot)


def test_snapshot_of_1_0_document_has_older_spelling():
    snapshot = snapshot_document(
        {
            "multiAgent": {"subagents": [{"name": "porter"}]},
            "multimodal": {"input": {"pdf": True}, "output": {"image": False}},
        }
    )
    assert snapshot["multiAgent"]["subAgents"] == [{"name": "porter"}]
    assert snapshot["multimodal"] == {
        "input": {"pdf": True},
        "output": {"image": False},
        "pdfInput": True,
        "imageGeneration": False,
    }


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_snapshot_of_any_sample_is_valid(name):
    validate_snapshot(snapshot_document(load_sample(name)))


def test_snapshot_keeps_unknown_and_omits_invalid_members():
    snapshot = snapshot_document(load_sample("courier_with_invalid_members"))

    assert snapshot["wireShape"] == {"events": ["RUN_STARTED"]}
    assert snapshot["identity"] == {"name": "Courier", "mood": "good"}
    assert snapshot["transport"] == {"resumable": True}
    assert "state" not in snapshot
    assert [tool["name"] for tool in snapshot["tools"]["items"]] == ["ship", "track"]


def test_snapshot_of_empty_document_is_empty():
    assert snapshot_document({}) == {}


@pytest.mark.skipif(not COLLECTED_SAMPLES, reason=f"no AG-UI samples in {SAMPLES}")
def test_snapshot_contains_every_member_of_collected_samples():
    for path in COLLECTED_SAMPLES:
        document = json.loads(path.read_text())
        snapshot = snapshot_document(document)
        validate_snapshot(snapshot)
        for category, members in document.items():
            assert members.items() <= snapshot[category].items(), path.name


# Agents of other protocols


def test_mcp_tools_become_tools():
    schema = {"type": "object"}
    snapshot = build_agent_capabilities(
        CapabilitiesSource(
            name="Desk",
            capabilities=[
                MCPTool(name="call_tug", description="Ask", input_schema=schema),
                MCPTool(name="book"),
                MCPPrompt(name="greet"),
                AgentFeature(name="mcp.prompts", value=False),
                AgentFeature(name="tools.supported", value=True),
            ],
        )
    )
    assert snapshot == {
        "identity": {"name": "Desk"},
        "tools": {
            "supported": True,
            "items": [
                {"name": "call_tug", "description": "Ask", "parameters": schema},
                {"name": "book", "description": ""},
            ],
        },
    }
    validate_snapshot(snapshot)


def test_a2a_skill_does_not_become_a_tool():
    snapshot = build_agent_capabilities(
        CapabilitiesSource(
            capabilities=[
                A2ASkill(name="draw", output_modes=["image/png"]),
                AgentFeature(name="transport.streaming", value=True),
                AgentFeature(name="transport.pushNotifications", value=False),
                AgentFeature(name="a2a.extendedAgentCard", value=True),
                AgentFeature(name="output.supportedMimeTypes", value=["text/html"]),
            ]
        )
    )
    assert snapshot == {
        "transport": {"streaming": True, "pushNotifications": False},
        "output": {"supportedMimeTypes": ["text/html"]},
    }
    validate_snapshot(snapshot)


def test_identity_comes_from_the_source():
    snapshot = build_agent_capabilities(
        CapabilitiesSource(
            name="n",
            description="d",
            version="1",
            provider="p",
            capabilities=[
                AgentFeature(
                    name="identity.documentationUrl", value="https://d.example"
                )
            ],
        )
    )
    assert snapshot == {
        "identity": {
            "name": "n",
            "description": "d",
            "version": "1",
            "provider": "p",
            "documentationUrl": "https://d.example",
        }
    }
    validate_snapshot(snapshot)


def test_invalid_and_unknown_features_are_omitted():
    features = [
        AgentFeature(name="transport.streaming", value="yes"),
        AgentFeature(name="execution.maxIterations", value=-1),
        AgentFeature(name="identity.name", value="not a feature"),
        AgentFeature(name="weather.snow", value=True),
    ]
    assert build_agent_capabilities(CapabilitiesSource(capabilities=features)) == {}


@pytest.mark.parametrize(
    ("parser", "folder"), [(A2AParser(), "a2a"), (MCPParser(), "mcp")]
)
def test_snapshots_of_other_protocols_are_valid(parser, folder):
    for path in sorted((DATA / folder).glob("*.json")):
        document = json.loads(path.read_text())
        if parser.recognizes(document):
            snapshot = snapshot_record(parser.parse(document, Problems()))
            assert validate_snapshot(snapshot).identity.name


# Flags are false only if the definition says so

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.text(max_size=5), inside, max_size=3)
    ),
    max_leaves=4,
)
snake_case = {"multiAgent": "multi_agent", "humanInTheLoop": "human_in_the_loop"}


def list_category_members(category):
    """Return the names of a category's members in all revisions."""
    names = {
        key_path[1] for key_path in FEATURES_BY_KEY_PATH if key_path[0] == category
    }
    names |= {"tools": {"items"}, "multiAgent": {"subagents", "subAgents"}}.get(
        category, set()
    )
    return sorted(
        names | (set(FLAT_MULTIMODAL_FLAGS) if category == "multimodal" else set())
    )


def iter_category_strategies():
    for category in sorted({key_path[0] for key_path in FEATURES_BY_KEY_PATH}):
        media = st.dictionaries(
            st.sampled_from(["image", "audio", "video", "pdf", "file"]), json_values
        )
        members = st.dictionaries(
            st.sampled_from(list_category_members(category)) | st.text(max_size=5),
            json_values | media if category == "multimodal" else json_values,
        )
        for name in {category, snake_case.get(category, category)}:
            yield name, members | json_values


documents = st.fixed_dictionaries({}, optional=dict(iter_category_strategies()))


def iter_false_features(snapshot):
    """Yield the names of standard flags that are false, in either spelling."""
    flat_flags = {
        ("multimodal", key): key_path for key, key_path in FLAT_MULTIMODAL_FLAGS.items()
    }
    for key_path in (*FEATURES_BY_KEY_PATH, *flat_flags):
        value = snapshot
        for key in key_path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is False:
            yield ".".join(
                ("multimodal", *flat_flags[key_path])
                if key_path in flat_flags
                else key_path
            )


def declares_false(document, name):
    """Return whether the document declares the flag false, in any spelling."""
    category, *keys = name.split(".")
    spellings = [document.get(category), document.get(snake_case.get(category))]
    for members in filter(lambda spelling: isinstance(spelling, dict), spellings):
        value = members
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        flat_keys = [
            key
            for key, key_path in FLAT_MULTIMODAL_FLAGS.items()
            if list(key_path) == keys
        ]
        if value is False or any(members.get(key) is False for key in flat_keys):
            return True
    return False


@given(documents)
def test_agui_snapshot_adds_no_false_flag(document):
    snapshot = snapshot_document(document)
    record, _ = parse_record(document | {"url": "https://a.example"})

    assert all(declares_false(document, name) for name in iter_false_features(snapshot))
    assert all(
        declares_false(document, name)
        for name, value in get_feature_values(record).items()
        if value is False
    )
    AgentCapabilities.model_validate(snapshot)
    json.dumps(snapshot)


flags = st.dictionaries(
    st.sampled_from(["streaming", "pushNotifications", "tools", "prompts", "x"]),
    json_values,
)


@given(
    flags | json_values,
    st.lists(
        st.fixed_dictionaries({"name": st.just("s")}, optional={"tags": json_values})
    ),
    json_values,
)
def test_a2a_snapshot_adds_no_false_flag(capabilities, skills, modes):
    card = {
        "name": "Desk",
        "url": "https://desk.example/",
        "capabilities": capabilities,
        "skills": skills,
        "defaultOutputModes": modes,
    }
    snapshot = snapshot_record(A2AParser().parse(card, Problems()))
    declared = capabilities if isinstance(capabilities, dict) else {}

    for name in iter_false_features(snapshot):
        assert declared[name.removeprefix("transport.")] is False
    assert "tools" not in snapshot
    AgentCapabilities.model_validate(snapshot)


@given(
    flags | json_values, st.lists(st.fixed_dictionaries({"name": st.text(min_size=1)}))
)
def test_mcp_snapshot_adds_no_false_flag(capabilities, tools):
    card = {
        "name": "desk",
        "url": "https://desk.example/",
        "capabilities": capabilities,
        "tools": tools,
    }
    snapshot = snapshot_record(MCPParser().parse(card, Problems()))

    for name in iter_false_features(snapshot):
        assert name == "tools.supported"
        assert capabilities["tools"] is False
    AgentCapabilities.model_validate(snapshot)
