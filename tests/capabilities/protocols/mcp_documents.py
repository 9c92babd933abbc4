"""Helpers that build and parse MCP documents."""

import json
from functools import partial
from pathlib import Path

from capabilities.parsers import parsers, try_parse
from capabilities.protocols.mcp import MCPParser

from .samples import get_feature_values, load_json_sample, select_capabilities

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data/mcp"


load_sample = partial(load_json_sample, "mcp")


def parse_document(document):
    """Parse a document as MCP, whether or not MCP is registered."""
    with parsers.temporarily(MCPParser()):
        return try_parse(json.dumps(document).encode(), "mcp")


def build_server(**members):
    return {"name": "desk", "url": "https://desk.example/mcp", **members}


def get_error_paths(document):
    return [problem.path for problem in parse_document(document).errors]


def get_warning_paths(document):
    return [problem.path for problem in parse_document(document).warnings]


def get_capabilities(document, kind):
    return select_capabilities(parse_document(document).record, kind)


def get_names(document, kind):
    return [capability.name for capability in get_capabilities(document, kind)]


def get_features(document):
    return get_feature_values(parse_document(document).record)
