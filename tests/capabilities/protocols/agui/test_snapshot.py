import json

import pytest
from ag_ui.core import AgentCapabilities
from hypothesis import given
from hypothesis import strategies as st

from capabilities.features import FEATURES_BY_KEY_PATH, AgentFeature
from capabilities.problems import Problems
from capabilities.protocols.a2a import A2AParser
from capabilities.protocols.a2a.records import A2ASkill
from capabilities.protocols.agui.snapshot import SnapshotSource, take_snapshot
from capabilities.protocols.mcp import MCPParser
from capabilities.protocols.mcp.records import MCPPrompt, MCPTool
from capabilities.spellings import FLAT_MULTIMODAL_FLAGS

from .reading import DATA, SAMPLES, features, parse, sample

NATIVE = ["seed_concierge", "snake_gardener", "wild_courier"]
SHARED = [
    path
    for path in sorted((SAMPLES / "agui").glob("*.json"))
    if not path.name.startswith("strands")
]


def of_native(document):
    return take_snapshot(SnapshotSource(declaration=document))


def of_record(record):
    return take_snapshot(
        SnapshotSource(
            name=record.name,
            description=record.description,
            version=record.version,
            capabilities=record.capabilities,
        )
    )


def valid(told):
    """The model AG-UI's own code reads in it, having read it whole."""
    model = AgentCapabilities.model_validate(told)
    assert model.model_dump(mode="json", by_alias=True) == told
    return model


# Agents of AG-UI


def test_every_field_of_the_seed_comes_back_as_it_was():
    document = sample("seed_concierge")
    told = of_native(document)

    for category, members in document.items():
        for key, value in members.items():
            assert told[category][key] == value, (category, key)


def test_the_same_is_there_for_clients_of_1_0():
    model = valid(of_native(sample("seed_concierge")))

    assert [each.name for each in model.multi_agent.subagents] == [
        "porter",
        "barkeeper",
    ]
    assert model.multimodal.input.video is True
    assert model.multimodal.output.image is False
    assert model.execution.max_execution_time == 30000


def test_a_document_of_1_0_is_there_for_clients_of_the_seed():
    told = of_native(
        {
            "multiAgent": {"subagents": [{"name": "porter"}]},
            "multimodal": {"input": {"pdf": True}, "output": {"image": False}},
        }
    )
    assert told["multiAgent"]["subAgents"] == [{"name": "porter"}]
    assert told["multimodal"] == {
        "input": {"pdf": True},
        "output": {"image": False},
        "pdfInput": True,
        "imageGeneration": False,
    }


@pytest.mark.parametrize("name", NATIVE)
def test_what_is_told_is_valid_however_wild_the_document(name):
    valid(of_native(sample(name)))


def test_unknown_members_are_kept_and_faulty_ones_left_out():
    told = of_native(sample("wild_courier"))

    assert told["wireShape"] == {"events": ["RUN_STARTED"]}
    assert told["identity"] == {"name": "Courier", "mood": "good"}
    assert told["transport"] == {"resumable": True}
    assert "state" not in told
    assert [tool["name"] for tool in told["tools"]["items"]] == ["ship", "track"]


def test_nothing_declared_is_nothing_told():
    assert of_native({}) == {}


@pytest.mark.skipif(not SHARED, reason=f"no AG-UI samples in {SAMPLES}")
def test_samples_from_the_world_come_back_whole():
    for path in SHARED:
        document = json.loads(path.read_text())
        told = of_native(document)
        valid(told)
        for category, members in document.items():
            assert members.items() <= told[category].items(), path.name


# Agents of other protocols


def test_an_mcp_servers_tools_are_tools():
    schema = {"type": "object"}
    told = take_snapshot(
        SnapshotSource(
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
    assert told == {
        "identity": {"name": "Desk"},
        "tools": {
            "supported": True,
            "items": [
                {"name": "call_tug", "description": "Ask", "parameters": schema},
                {"name": "book", "description": ""},
            ],
        },
    }
    valid(told)


def test_an_a2a_skill_is_no_tool():
    told = take_snapshot(
        SnapshotSource(
            capabilities=[
                A2ASkill(name="draw", output_modes=["image/png"]),
                AgentFeature(name="transport.streaming", value=True),
                AgentFeature(name="transport.pushNotifications", value=False),
                AgentFeature(name="a2a.extendedAgentCard", value=True),
                AgentFeature(name="output.supportedMimeTypes", value=["text/html"]),
            ]
        )
    )
    assert told == {
        "transport": {"streaming": True, "pushNotifications": False},
        "output": {"supportedMimeTypes": ["text/html"]},
    }
    valid(told)


def test_identity_is_the_entrys():
    told = take_snapshot(
        SnapshotSource(
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
    assert told == {
        "identity": {
            "name": "n",
            "description": "d",
            "version": "1",
            "provider": "p",
            "documentationUrl": "https://d.example",
        }
    }
    valid(told)


def test_features_of_a_wrong_type_and_unknown_ones_are_not_told():
    rows = [
        AgentFeature(name="transport.streaming", value="yes"),
        AgentFeature(name="execution.maxIterations", value=-1),
        AgentFeature(name="identity.name", value="not a feature"),
        AgentFeature(name="weather.snow", value=True),
    ]
    assert take_snapshot(SnapshotSource(capabilities=rows)) == {}


@pytest.mark.parametrize(
    ("parser", "folder"), [(A2AParser(), "a2a"), (MCPParser(), "mcp")]
)
def test_every_fixture_of_another_protocol_is_told_validly(parser, folder):
    for path in sorted((DATA / folder).glob("*.json")):
        document = json.loads(path.read_text())
        if parser.recognizes(document):
            told = of_record(parser.parse(document, Problems()))
            assert valid(told).identity.name


# Nothing is false that was not said to be false

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.text(max_size=5), inside, max_size=3)
    ),
    max_leaves=4,
)
snake_case = {"multiAgent": "multi_agent", "humanInTheLoop": "human_in_the_loop"}


def category_members(category):
    """Names its members have in some revision."""
    names = {
        key_path[1] for key_path in FEATURES_BY_KEY_PATH if key_path[0] == category
    }
    names |= {"tools": {"items"}, "multiAgent": {"subagents", "subAgents"}}.get(
        category, set()
    )
    return sorted(
        names | (set(FLAT_MULTIMODAL_FLAGS) if category == "multimodal" else set())
    )


def categories():
    for category in sorted({key_path[0] for key_path in FEATURES_BY_KEY_PATH}):
        media = st.dictionaries(
            st.sampled_from(["image", "audio", "video", "pdf", "file"]), values
        )
        inside = st.dictionaries(
            st.sampled_from(category_members(category)) | st.text(max_size=5),
            values | media if category == "multimodal" else values,
        )
        for name in {category, snake_case.get(category, category)}:
            yield name, inside | values


declarations = st.fixed_dictionaries({}, optional=dict(categories()))


def false_features(told):
    """The standard flags that a snapshot says are false, in either spelling."""
    flat = {
        ("multimodal", key): key_path for key, key_path in FLAT_MULTIMODAL_FLAGS.items()
    }
    for key_path in (*FEATURES_BY_KEY_PATH, *flat):
        value = told
        for step in key_path:
            value = value.get(step) if isinstance(value, dict) else None
        if value is False:
            yield ".".join(
                ("multimodal", *flat[key_path]) if key_path in flat else key_path
            )


def said_false(document, name):
    """Whether the document says so, in any spelling."""
    category, *rest = name.split(".")
    written = [document.get(category), document.get(snake_case.get(category))]
    for inside in filter(lambda each: isinstance(each, dict), written):
        value = inside
        for step in rest:
            value = value.get(step) if isinstance(value, dict) else None
        flat = [
            key
            for key, key_path in FLAT_MULTIMODAL_FLAGS.items()
            if list(key_path) == rest
        ]
        if value is False or any(inside.get(key) is False for key in flat):
            return True
    return False


@given(declarations)
def test_ag_ui_says_no_false_word_of_its_own(document):
    told = of_native(document)
    record, _ = parse(document | {"url": "https://a.example"})

    assert all(said_false(document, name) for name in false_features(told))
    assert all(
        said_false(document, name)
        for name, value in features(record).items()
        if value is False
    )
    AgentCapabilities.model_validate(told)
    json.dumps(told)


flags = st.dictionaries(
    st.sampled_from(["streaming", "pushNotifications", "tools", "prompts", "x"]), values
)


@given(
    flags | values,
    st.lists(st.fixed_dictionaries({"name": st.just("s")}, optional={"tags": values})),
    values,
)
def test_a2a_is_given_no_false_word(capabilities, skills, modes):
    card = {
        "name": "Desk",
        "url": "https://desk.example/",
        "capabilities": capabilities,
        "skills": skills,
        "defaultOutputModes": modes,
    }
    told = of_record(A2AParser().parse(card, Problems()))
    stated = capabilities if isinstance(capabilities, dict) else {}

    for name in false_features(told):
        assert stated[name.removeprefix("transport.")] is False
    assert "tools" not in told
    AgentCapabilities.model_validate(told)


@given(flags | values, st.lists(st.fixed_dictionaries({"name": st.text(min_size=1)})))
def test_mcp_is_given_no_false_word(capabilities, tools):
    card = {
        "name": "desk",
        "url": "https://desk.example/",
        "capabilities": capabilities,
        "tools": tools,
    }
    told = of_record(MCPParser().parse(card, Problems()))

    for name in false_features(told):
        assert name == "tools.supported"
        assert capabilities["tools"] is False
    AgentCapabilities.model_validate(told)
