"""What a card declares beside its skills, in words that all protocols share."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...features import AgentFeature
from ...problems import Document, Problems
from .records import A2ASkill
from .security import read_requirements

EXTENDED_CARD = "a2a.extendedAgentCard"
FLAGS = {
    "streaming": "transport.streaming",
    "pushNotifications": "transport.pushNotifications",
    "stateTransitionHistory": "a2a.stateTransitionHistory",
    "extendedAgentCard": EXTENDED_CARD,
}
# By RFC 6838; cards also say "text" and "*/*".
WORD = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*"
MIME_TYPE = re.compile(rf"{WORD}/{WORD}(\s*;.*)?")
# What a mode says of media, by how it begins.
TAKEN = {
    "image/": "multimodal.input.image",
    "audio/": "multimodal.input.audio",
    "video/": "multimodal.input.video",
    "application/pdf": "multimodal.input.pdf",
}
MADE = {"image/": "multimodal.output.image", "audio/": "multimodal.output.audio"}


def read_features(
    document: Document, flags: Document, problems: Problems
) -> Iterator[AgentFeature]:
    """Flags, where more is to be read, and what a caller must present."""
    problems.warn_unknown(flags, {*FLAGS, "extensions"}, "$.capabilities")
    declared: dict[str, Any] = {
        name: problems.boolean(flags, key, "$.capabilities")
        for key, name in FLAGS.items()
    }
    if declared[EXTENDED_CARD] is None:
        older = problems.boolean(document, "supportsAuthenticatedExtendedCard")
        declared[EXTENDED_CARD] = older
    documentation = problems.url(document, "documentationUrl")
    declared["identity.documentationUrl"] = documentation or None
    requirements = read_requirements(document, problems, "$")
    declared["security.requirements"] = requirements or None
    for name, value in declared.items():
        if value is not None:
            yield AgentFeature(name=name, value=value)


def read_media(
    skills: list[A2ASkill], defaults: list[list[str]]
) -> Iterator[AgentFeature]:
    """What goes in and comes out, by default or of any skill."""
    default_inputs, default_outputs = defaults
    inputs = [*default_inputs, *(mode for each in skills for mode in each.input_modes)]
    made = (mode for each in skills for mode in each.output_modes)
    outputs = list(dict.fromkeys([*default_outputs, *made]))
    types = [mode for mode in outputs if MIME_TYPE.fullmatch(mode)]
    if types:
        yield AgentFeature(name="output.supportedMimeTypes", value=types)
    for name in (*media(inputs, TAKEN), *media(outputs, MADE)):
        yield AgentFeature(name=name, value=True)


def media(modes: Iterable[str], names: dict[str, str]) -> list[str]:
    """The features that these modes show; the others stay unsaid."""
    stated = [mode.strip().lower() for mode in modes]
    return [
        name
        for beginning, name in names.items()
        if any(mode.startswith(beginning) for mode in stated)
    ]
