import pytest

from .a2a_cards import (
    build_card,
    build_skill,
    get_capabilities,
    get_features,
    get_names,
    get_properties,
    get_warning_paths,
    load_sample,
)


def test_extension_is_named_by_its_uri():
    first, second = get_capabilities(load_sample("v03_booking"), "a2a.extension")

    assert first.description == "Signed receipts"
    assert first.properties == {
        "uri": "https://example.org/ext/receipts/v1",
        "required": True,
        "params": {"currency": "EUR"},
    }
    assert second.properties == {
        "uri": "https://example.org/ext/tracing/v2",
        "required": False,
    }


@pytest.mark.parametrize("extension", [{}, {"uri": " "}, {"uri": 5}])
def test_extension_without_uri_is_ignored_with_a_warning(extension):
    document = build_card(capabilities={"extensions": [extension, {"uri": "urn:a"}]})

    assert get_names(document, "a2a.extension") == ["urn:a"]
    assert "$.capabilities.extensions[0]" in get_warning_paths(document)


def test_extension_with_invalid_required_flag_is_optional():
    document = build_card(
        capabilities={"extensions": [{"uri": "urn:a", "required": "no"}]}
    )

    assert get_capabilities(document, "a2a.extension")[0].required is False
    assert get_warning_paths(document) == ["$.capabilities.extensions[0].required"]


def test_a2a_capability_flags_become_features():
    assert get_features(load_sample("v02_translator")) == {
        "transport.streaming": True,
        "transport.pushNotifications": False,
        "a2a.stateTransitionHistory": True,
        "output.supportedMimeTypes": ["text/plain", "application/json"],
        "multimodal.input.pdf": True,
    }


def test_modes_of_card_and_skills_become_media_features():
    image_skill = {"name": "draw", "outputModes": ["image/png", "text", "*/*"]}
    audio_skill = {
        "name": "hear",
        "inputModes": [" Audio/WAV", "video/*", "application/pdf"],
    }
    document = build_card(
        skills=[image_skill, audio_skill],
        defaultInputModes=["image/jpeg"],
        defaultOutputModes=["text/plain; charset=utf-8", "image/png"],
    )

    assert get_features(document) == {
        "output.supportedMimeTypes": ["text/plain; charset=utf-8", "image/png"],
        "multimodal.input.image": True,
        "multimodal.input.audio": True,
        "multimodal.input.video": True,
        "multimodal.input.pdf": True,
        "multimodal.output.image": True,
    }


def test_a2a_documentation_url_becomes_a_feature():
    document = build_card(documentationUrl="https://d.example/docs")

    assert (
        get_features(document)["identity.documentationUrl"] == "https://d.example/docs"
    )


@pytest.mark.parametrize("value", [True, False])
def test_extended_card_flag_is_read_in_both_spellings(value):
    older = build_card(supportsAuthenticatedExtendedCard=value)
    newer = build_card(capabilities={"extendedAgentCard": value})

    assert get_features(older)["a2a.extendedAgentCard"] is value
    assert get_features(older) == get_features(newer)


def test_newer_spelling_of_extended_card_flag_takes_precedence():
    document = build_card(
        capabilities={"extendedAgentCard": False},
        supportsAuthenticatedExtendedCard=True,
    )

    assert get_features(document)["a2a.extendedAgentCard"] is False


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"capabilities": {"streaming": "yes"}}, "$.capabilities.streaming"),
        ({"capabilities": ["streaming"]}, "$.capabilities"),
        (
            {"supportsAuthenticatedExtendedCard": 1},
            "$.supportsAuthenticatedExtendedCard",
        ),
    ],
)
def test_flag_of_wrong_type_is_ignored_with_a_warning(members, path):
    assert get_features(build_card(**members)) == {
        "output.supportedMimeTypes": ["text/plain"]
    }
    assert get_warning_paths(build_card(**members)) == [path]


def test_card_without_declarations_has_no_features():
    assert get_features(build_card(defaultOutputModes=[], security=[])) == {}


def test_default_modes_that_are_not_strings_are_ignored():
    document = build_card(
        defaultOutputModes=["a/b", {"type": "c/d"}], skills=[build_skill()]
    )

    assert get_features(document) == {"output.supportedMimeTypes": ["a/b"]}
    assert get_properties(document, "a2a.skill")[0]["output_modes"] == ["a/b"]
    assert get_warning_paths(document) == ["$.defaultOutputModes[1]"]
