import copy
import json

import pytest

from capabilities.spellings import normalize_spelling, standard_name

from .reading import sample


def normalised(document):
    return normalize_spelling(document).document


def test_the_seeds_subagents_get_the_name_of_1_0():
    document = {"multiAgent": {"subAgents": [{"name": "porter"}]}}

    assert normalised(document) == {"multiAgent": {"subagents": [{"name": "porter"}]}}


def test_the_seeds_flat_flags_are_nested():
    flags = {
        "imageInput": True,
        "imageGeneration": False,
        "audioInput": True,
        "audioOutput": False,
        "videoInput": True,
        "pdfInput": False,
        "fileInput": True,
    }
    assert normalised({"multimodal": flags})["multimodal"] == {
        "input": {
            "image": True,
            "audio": True,
            "video": True,
            "pdf": False,
            "file": True,
        },
        "output": {"image": False, "audio": False},
    }


def test_a_flat_flag_never_overwrites_a_nested_one():
    document = {"multimodal": {"imageInput": False, "input": {"image": True}}}

    result = normalize_spelling(document)

    assert result.document == {"multimodal": {"input": {"image": True}}}
    assert result.conflicting_paths == ["$.multimodal.imageInput"]


def test_a_flat_flag_is_read_where_1_0_has_nothing_sensible():
    said = {"multimodal": {"input": "x", "audioInput": True, "imageInput": False}}
    result = normalize_spelling(said)

    nested = {"audio": True, "image": False}
    assert result.document == {"multimodal": {"input": nested}}
    assert result.misplaced_paths == ["$.multimodal.input"]


def test_spellings_that_agree_are_no_news():
    both = {"subagents": [{"name": "a"}], "subAgents": [{"name": "a"}]}

    assert normalize_spelling({"multiAgent": both}).conflicting_paths == []


@pytest.mark.parametrize("older", ["subAgents", "sub_agents"])
def test_what_1_0_says_counts_in_any_order(older):
    both = {older: [{"name": "old"}], "subagents": [{"name": "new"}]}
    turned = dict(reversed(both.items()))

    for members in (both, turned):
        kept = normalised({"multiAgent": members})
        assert kept == {"multiAgent": {"subagents": [{"name": "new"}]}}


def test_null_is_no_word_of_1_0():
    both = {"subagents": None, "subAgents": [{"name": "old"}]}

    kept = normalised({"multiAgent": both})
    assert kept == {"multiAgent": {"subagents": [{"name": "old"}]}}


def test_snake_case_is_read_as_camel_case():
    assert normalised(sample("snake_gardener")) == {
        "identity": {"name": "Gardener", "documentationUrl": "https://garden.example"},
        "transport": {"httpBinary": True},
        "multiAgent": {"supported": True, "subagents": [{"name": "mole_catcher"}]},
        "multimodal": {"input": {"image": True}, "output": {"audio": False}},
        "execution": {"maxIterations": 4},
        "humanInTheLoop": {"approveWithEdits": True},
    }


def test_members_that_nobody_knows_stay_untouched():
    document = {
        "wire_shape": {"raw_events": 1},
        "transport": {"carrier_pigeon": True, "streaming_": True},
        "custom": {"max_iterations": 3},
    }
    assert normalised(document) == document


def test_the_place_as_written_is_remembered():
    result = normalize_spelling(sample("snake_gardener"))
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


@pytest.mark.parametrize("name", ["seed_concierge", "snake_gardener", "wild_courier"])
def test_the_document_itself_is_left_alone_and_twice_is_as_good_as_once(name):
    document = sample(name)
    before = copy.deepcopy(document)

    once = normalised(document)

    assert document == before
    assert normalised(once) == once
    assert json.dumps(once)


@pytest.mark.parametrize(
    ("stated", "standard"),
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
def test_a_feature_is_known_by_any_of_its_names(stated, standard):
    assert standard_name(stated) == standard
