"""The features that A2A cards declare, under the names that all protocols share."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...features import AgentFeature
from ...problems import Document, Problems
from .records import A2ASkill
from .security import read_requirements

EXTENDED_CARD = "a2a.extendedAgentCard"
STATE_TRANSITION_HISTORY = "a2a.stateTransitionHistory"
SECURITY_REQUIREMENTS = "security.requirements"
# The features that AG-UI does not define.
OWN_FEATURE_NAMES = (STATE_TRANSITION_HISTORY, EXTENDED_CARD, SECURITY_REQUIREMENTS)
FEATURE_NAMES_BY_FLAG = {
    "streaming": "transport.streaming",
    "pushNotifications": "transport.pushNotifications",
    "stateTransitionHistory": STATE_TRANSITION_HISTORY,
    "extendedAgentCard": EXTENDED_CARD,
}
# As defined in RFC 6838. Cards also contain modes like "text" and "*/*", which do not
# match.
MIME_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*"
MIME_TYPE = re.compile(rf"{MIME_NAME}/{MIME_NAME}(\s*;.*)?")
# The features that input and output modes imply, by the prefix of the mode.
INPUT_FEATURES = {
    "image/": "multimodal.input.image",
    "audio/": "multimodal.input.audio",
    "video/": "multimodal.input.video",
    "application/pdf": "multimodal.input.pdf",
}
OUTPUT_FEATURES = {
    "image/": "multimodal.output.image",
    "audio/": "multimodal.output.audio",
}


class DefaultModes(NamedTuple):
    """The input and output modes of skills that declare none themselves."""

    inputs: list[str]
    outputs: list[str]


def read_features(
    document: Document, declared_capabilities: Document, problems: Problems
) -> Iterator[AgentFeature]:
    """Yield the flags, the documentation URL and the security requirements."""
    path = "$.capabilities"
    known_members = {*FEATURE_NAMES_BY_FLAG, "extensions"}
    problems.warn_unknown(declared_capabilities, known_members, path)
    declared: dict[str, Any] = {
        name: problems.boolean(declared_capabilities, flag, path)
        for flag, name in FEATURE_NAMES_BY_FLAG.items()
    }
    if declared[EXTENDED_CARD] is None:
        # The member of revisions before 1.0.
        legacy_flag = problems.boolean(document, "supportsAuthenticatedExtendedCard")
        declared[EXTENDED_CARD] = legacy_flag
    documentation = problems.url(document, "documentationUrl")
    declared["identity.documentationUrl"] = documentation or None
    requirements = read_requirements(document, problems, "$")
    declared[SECURITY_REQUIREMENTS] = requirements or None
    for name, value in declared.items():
        if value is not None:
            yield AgentFeature(name=name, value=value)


def read_media_features(
    skills: list[A2ASkill], default_modes: DefaultModes
) -> Iterator[AgentFeature]:
    """Yield the MIME types and media of the card's default modes and its skills."""
    skill_inputs = (mode for skill in skills for mode in skill.input_modes)
    skill_outputs = (mode for skill in skills for mode in skill.output_modes)
    inputs = [*default_modes.inputs, *skill_inputs]
    outputs = list(dict.fromkeys([*default_modes.outputs, *skill_outputs]))
    mime_types = [mode for mode in outputs if MIME_TYPE.fullmatch(mode)]
    if mime_types:
        yield AgentFeature(name="output.supportedMimeTypes", value=mime_types)
    input_names = list_implied_features(inputs, INPUT_FEATURES)
    output_names = list_implied_features(outputs, OUTPUT_FEATURES)
    for name in (*input_names, *output_names):
        yield AgentFeature(name=name, value=True)


def list_implied_features(
    modes: Iterable[str], features_by_prefix: dict[str, str]
) -> list[str]:
    """Return the names of the features that these modes imply."""
    normalized = [mode.strip().lower() for mode in modes]
    return [
        name
        for prefix, name in features_by_prefix.items()
        if any(mode.startswith(prefix) for mode in normalized)
    ]
