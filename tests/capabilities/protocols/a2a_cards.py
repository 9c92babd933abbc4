"""Helpers that build and parse A2A cards."""

import json
from functools import partial
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.protocols.a2a import A2AParser

from .samples import get_feature_values, load_json_sample, select_capabilities

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data/a2a"
SAMPLE_NAMES = sorted(
    path.stem for path in DATA.glob("*.json") if "notcard" not in path.stem
)
# An interface of revision 1.0.
JSONRPC_INTERFACE = {
    "url": "https://desk.example.com/rpc",
    "protocolBinding": "JSONRPC",
    "protocolVersion": "1.0",
}


load_sample = partial(load_json_sample, "a2a")


def build_card(**members):
    """Return a minimal card of revision 0.2 that parses without warnings."""
    return {
        "name": "Desk",
        "description": "Answers questions",
        "url": "https://desk.example.com/",
        "version": "1.0.0",
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
    } | members


def build_v1_card(*interfaces, **members):
    """Return a minimal card of revision 1.0, which lists its interfaces."""
    document = build_card(supportedInterfaces=list(interfaces), **members)
    del document["url"]
    return document


def build_skill(**members):
    return {"id": "s", "name": "Skill", "description": "Does it", "tags": []} | members


def parse_card(document, protocol="a2a"):
    """Parse a card, whether or not A2A is registered."""
    with parsers.temporarily(A2AParser()):
        return try_parse(json.dumps(document).encode(), protocol)


def get_error_paths(document):
    return [problem.path for problem in parse_card(document).errors]


def get_warning_paths(document):
    return [problem.path for problem in parse_card(document).warnings]


def get_record(document):
    """Return the record of a card, which must be valid."""
    result = parse_card(document)
    assert not result.errors
    return result.record


def get_capabilities(document, kind):
    return select_capabilities(get_record(document), kind)


def get_names(document, kind):
    return [capability.name for capability in get_capabilities(document, kind)]


def get_properties(document, kind):
    return [capability.properties for capability in get_capabilities(document, kind)]


def get_features(document):
    return get_feature_values(get_record(document))
