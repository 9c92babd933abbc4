import copy
import json

import pytest

from capabilities.spellings import normalize_document, normalize_feature_name

from .declarations import load_sample


def normalize(document):
    return normalize_document(document).document


def test_older_subagents_member_is_renamed():
    document = {"multiAgent": {"subAgents": [{"name": "porter"}]}}

    assert normalize(document) == {"multiAgent": {"subagents": [{"name": "porter"}]}}


def test_flat_multimodal_flags_are_nested():
    flags = {
        "imageInput": True,
        "imageGeneration": False,
        "audioInput": True,
        "audioOutput": False,
        "videoInput": True,
        "pdfInput": False,
        "fileInput": True,
    }
    assert normalize({"multimodal": flags})["multimodal"] == {
        "input": {
            "image": True,
            "audio": True,
            "video": True,
            "pdf": False,
            "file": True,
        },
        "output": {"image": False, "audio": False},
    }


def test_nested_flag_takes_precedence_over_flat_flag():
    document = {"multimodal": {"imageInput": False, "input": {"image": True}}}

    result = normalize_document(document)

    assert result.document == {"multimodal": {"input": {"image": True}}}
    assert result.conflicting_paths == ["$.multimodal.imageInput"]


def test_flat_flag_replaces_invalid_nested_value():
    document = {"multimodal": {"input": "x", "audioInput": True, "imageInput": False}}
    result = normalize_document(document)

    nested = {"audio": True, "image": False}
    assert result.document == {"multimodal": {"input": nested}}
    assert result.non_object_paths == ["$.multimodal.input"]


def test_equal_spellings_are_not_a_conflict():
    members = {"subagents": [{"name": "a"}], "subAgents": [{"name": "a"}]}

    assert normalize_document({"multiAgent": members}).conflicting_paths == []


@pytest.mark.parametrize("older", ["subAgents", "sub_agents"])
def test_1_0_spelling_takes_precedence_in_any_order(older):
    original = {older: [{"name": "old"}], "subagents": [{"name": "new"}]}
    reordered = dict(reversed(original.items()))

    for members in (original, reordered):
        document = normalize({"multiAgent": members})
        assert document == {"multiAgent": {"subagents": [{"name": "new"}]}}


def test_null_in_1_0_spelling_is_ignored():
    members = {"subagents": None, "subAgents": [{"name": "old"}]}

    document = normalize({"multiAgent": members})
    assert document == {"multiAgent": {"subagents": [{"name": "old"}]}}


def test_snake_case_becomes_camel_case():
    assert normalize(load_sample("snake_case_gardener")) == {
        "identity": {"name": "Gardener", "documentationUrl": "https://garden.example"},
        "transport": {"httpBinary": True},
        "multiAgent": {"supported": True, "subagents": [{"name": "mole_catcher"}]},
        "multimodal": {"input": {"image": True}, "output": {"audio": False}},
        "execution": {"maxIterations": 4},
        "humanInTheLoop": {"approveWithEdits": True},
    }


def test_unknown_members_are_unchanged():
    document = {
        "wire_shape": {"raw_events": 1},
        "transport": {"carrier_pigeon": True, "streaming_": True},
        "custom": {"max_iterations": 3},
    }
    assert normalize(document) == document


def test_original_path_has_original_spelling():
    result = normalize_document(load_sample("snake_case_gardener"))
    subagents = ("multiAgent", "subagents")

    assert result.original_path(subagents) == "$.multi_agent.sub_agents"
    assert (
        result.original_path(("multiAgent", "supported")) == "$.multi_agent.supported"
    )
    assert (
        result.original_path(("multimodal", "input", "image"))
        == "$.multimodal.image_input"
    )
    assert result.original_path(("multimodal", "output", "audio")) == (
        "$.multimodal.output.audio"
    )


@pytest.mark.parametrize(
    "name", ["concierge", "snake_case_gardener", "courier_with_invalid_members"]
)
def test_normalization_is_idempotent_and_copies_the_document(name):
    document = load_sample(name)
    original = copy.deepcopy(document)

    normalized = normalize(document)

    assert document == original
    assert normalize(normalized) == normalized
    assert json.dumps(normalized)


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        ("transport.streaming", "transport.streaming"),
        ("multimodal.imageInput", "multimodal.input.image"),
        ("multimodal.image_input", "multimodal.input.image"),
        ("multi_agent.supported", "multiAgent.supported"),
        ("human_in_the_loop.approve_with_edits", "humanInTheLoop.approveWithEdits"),
        ("custom.my_own.flag", "custom.my_own.flag"),
        ("mcp.tools.listChanged", "mcp.tools.listChanged"),
        ("nonsense", "nonsense"),
        ("", ""),
        ("..", ".."),
    ],
)
def test_standard_name_accepts_every_spelling(name, standard):
    assert normalize_feature_name(name) == standard
