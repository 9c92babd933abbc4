"""Reading A2A cards in tests, whether or not the protocol is registered."""

import json
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.protocols.a2a import A2AParser

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data/a2a"
CARDS = sorted(path.stem for path in DATA.glob("*.json") if "notcard" not in path.stem)
# An interface of revision 1.0.
RPC = {
    "url": "https://desk.example.com/rpc",
    "protocolBinding": "JSONRPC",
    "protocolVersion": "1.0",
}


def sample(name):
    return json.loads((DATA / f"{name}.json").read_text())


def card(**members):
    """The least that is a card without a warning, of revision 0.2, with changes."""
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


def v1_card(*interfaces, **members):
    """The same in revision 1.0, which lists its interfaces."""
    document = card(supportedInterfaces=list(interfaces), **members)
    del document["url"]
    return document


def skill(**members):
    return {"id": "s", "name": "Skill", "description": "Does it", "tags": []} | members


def read(document, protocol="a2a"):
    with parsers.temporarily(A2AParser()):
        return try_parse(json.dumps(document).encode(), protocol)


def errors(document):
    return [problem.path for problem in read(document).errors]


def warnings(document):
    return [problem.path for problem in read(document).warnings]


def offers(document, kind):
    """The capabilities of a kind; the card must be valid."""
    reading = read(document)
    assert not reading.errors
    return [each for each in reading.record.capabilities if each.kind == kind]


def properties(document, kind):
    return [each.properties for each in offers(document, kind)]


def features(document):
    return {each.name: each.value for each in offers(document, "agent.feature")}
