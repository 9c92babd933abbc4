"""Reading AG-UI documents in tests, whether or not the protocol is registered."""

import json
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.problems import Problems
from capabilities.protocols.agui import AGUIParser

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests/data"
SAMPLES = ROOT.parent / "shared/protocols/samples"
URL = "https://agent.example/run"


def sample(name):
    return json.loads((DATA / f"agui/{name}.json").read_text())


def read(document, protocol="agui", endpoint=URL):
    """As registering reads it, once the protocol is registered."""
    with parsers.temporarily(AGUIParser()):
        return try_parse(json.dumps(document).encode(), protocol, endpoint)


def parse(document):
    """The record and its problems, straight from the parser."""
    problems = Problems()
    return AGUIParser().parse(document, problems), problems


def offered(record, kind):
    return [each for each in record.capabilities if each.kind == kind]


def features(record):
    return {each.name: each.value for each in offered(record, "agent.feature")}


def paths(problems):
    return {problem.path for problem in problems}
