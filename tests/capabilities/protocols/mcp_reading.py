"""Reading MCP documents in tests, whether or not the protocol is registered."""

import json
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.protocols.mcp import MCPParser

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data/mcp"


def sample(name):
    return json.loads((DATA / f"{name}.json").read_text())


def read(document):
    with parsers.temporarily(MCPParser()):
        return try_parse(json.dumps(document).encode(), "mcp")


def card(**members):
    return {"name": "desk", "url": "https://desk.example/mcp", **members}


def errors(document):
    return [problem.path for problem in read(document).errors]


def warnings(document):
    return [problem.path for problem in read(document).warnings]


def offers(document, kind):
    return [each for each in read(document).record.capabilities if each.kind == kind]


def features(document):
    return {each.name: each.value for each in offers(document, "agent.feature")}
