"""Helpers that load and parse AG-UI declarations."""

import json
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.problems import Problems
from capabilities.protocols.agui import AGUIParser

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests/data"
SAMPLES = ROOT.parent / "shared/protocols/samples"
URL = "https://agent.example/run"


def load_sample(name):
    return json.loads((DATA / f"agui/{name}.json").read_text())


def parse_document(document, protocol="agui", endpoint=URL):
    """Parse a document as registration does, whether or not AG-UI is registered."""
    with parsers.temporarily(AGUIParser()):
        return try_parse(json.dumps(document).encode(), protocol, endpoint)


def parse_record(document):
    """Return the record and the problems, directly from the parser."""
    problems = Problems()
    return AGUIParser().parse(document, problems), problems


def get_capabilities(record, kind):
    return [capability for capability in record.capabilities if capability.kind == kind]


def get_features(record):
    return {
        capability.name: capability.value
        for capability in get_capabilities(record, "agent.feature")
    }


def get_paths(problems):
    return {problem.path for problem in problems}
