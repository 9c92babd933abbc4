"""Helpers that load and parse AG-UI declarations."""

import json
from functools import partial
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.problems import Problems
from capabilities.protocols.agui import AGUIParser
from tests.capabilities.protocols.samples import load_json_sample

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests/data"
SAMPLES = ROOT.parent / "shared/protocols/samples"
URL = "https://agent.example/run"


load_sample = partial(load_json_sample, "agui")


def parse_document(document, protocol="agui", endpoint=URL):
    """Parse a document as registration does, whether or not AG-UI is registered."""
    with parsers.temporarily(AGUIParser()):
        return try_parse(json.dumps(document).encode(), protocol, endpoint)


def parse_record(document):
    """Return the record and the problems, directly from the parser."""
    problems = Problems()
    return AGUIParser().parse(document, problems), problems


def get_unique_paths(problems):
    return {problem.path for problem in problems}
