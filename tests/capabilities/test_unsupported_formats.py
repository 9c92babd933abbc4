import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.parsers import ParseError, ProtocolNotDetected, parse, try_parse
from capabilities.unsupported_formats import (
    UNSUPPORTED_FORMATS,
    find_unsupported_format,
)

SERVER = {"name": "a.b/c", "description": "d", "version": "1"}
DOCUMENTS = [
    ("MCP client configuration", {"mcpServers": {"x": {"command": "npx"}}}),
    ("MCP client configuration", {"servers": {"x": {"url": "https://a.example"}}}),
    ("MCP client configuration", {"mcp": {"servers": {}}}),
    ("list of servers", {"servers": [{"server": SERVER}], "metadata": {"count": 1}}),
    ("OASF", {"schema_version": "0.7.0", "name": "x", "locators": [], "skills": []}),
    ("OASF", {"schema_version": "1", "skills": [{"class_uid": 1}], "name": "x"}),
    ("ai-catalog", {"specVersion": "1.0", "entries": [], "host": {}}),
    ("ard.json", {"entries": [{"identifier": "urn:air:a.example:x"}]}),
    ("Wild Card", {"agentsJson": "0.1.0", "sources": [], "flows": []}),
    ("Smithery", {"qualifiedName": "@a/b", "displayName": "B", "connections": []}),
    ("Smithery", {"qualifiedName": "b", "tools": [{"name": "a", "inputSchema": {}}]}),
    ("OpenAPI", {"openapi": "3.1.0", "info": {}, "servers": [{"url": "/"}]}),
    ("OpenAPI", {"swagger": "2.0"}),
    ("AsyncAPI", {"asyncapi": "3.0.0", "servers": {}}),
    ("ai-plugin.json", {"schema_version": "v1", "name_for_model": "x"}),
    ("package.json", {"name": "@a/b", "version": "1.0.0", "main": "index.js"}),
    ("package.json", {"name": "b", "devDependencies": {}}),
    ("JSON Schema", {"$schema": "https://json-schema.org/draft/2020-12/schema"}),
    ("JSON Schema", {"type": "object", "properties": {}}),
    ("MCP bundle", {"manifest_version": "0.2", "name": "x", "server": {"type": "a"}}),
]
TEXTS = [
    ("Agent Skill (SKILL.md)", "---\nname: x\ndescription: y\nlicense: MIT\n---\nDo."),
    (".claude/agents", "---\nname: x\ndescription: y\ntools: Read\n---\nDo."),
    ("smithery.yaml", "startCommand:\n  type: stdio\n  configSchema: {}\n"),
    ("MCP client configuration", '[mcp_servers.x]\ncommand = "npx"\n'),
]


def get_message(content: str) -> str:
    """Return the only error of a document that no protocol recognizes."""
    with pytest.raises(ProtocolNotDetected) as caught:
        parse(content.encode())
    (problem,) = caught.value.result.errors
    assert problem.path == "$"
    assert len(problem.message) < 250
    return problem.message


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
def test_unsupported_format_is_named_in_the_error_t19(name, document):
    message = get_message(json.dumps(document))

    assert name in message
    assert "register" in message


@pytest.mark.parametrize(("name", "text"), TEXTS)
def test_unsupported_yaml_or_toml_is_named_in_the_error(name, text):
    assert name in get_message(text)


def test_client_configuration_error_says_what_to_do():
    assert get_message('{"mcpServers": {}}') == (
        "is an MCP client configuration, which is not supported; register each of its"
        " servers separately, by its URL"
    )


def test_json_with_name_and_description_is_not_taken_for_a_prompt():
    message = get_message('{"name": "x", "description": "y"}')

    assert message.startswith("is not a definition of a supported protocol (A2A, MCP")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('[{"name": "x"}, {"name": "y"}]', "register each of them separately"),
        ('name: "x"\nskills {\n  id: "a"\n}\n', "register its JSON form"),
    ],
)
def test_text_that_is_not_an_object_is_explained(text, hint):
    with pytest.raises(ParseError) as caught:
        parse(text.encode())

    assert type(caught.value) is ParseError
    assert hint in caught.value.result.errors[0].message


def test_message_of_a_document_does_not_decide_on_the_error_class():
    raw = b'{"name": "x", "url": "https://a.example/", "skills": 5}'

    with pytest.raises(ParseError) as caught:
        parse(raw)

    assert not isinstance(caught.value, ProtocolNotDetected)
    assert not try_parse(raw).is_unknown_protocol
    assert try_parse(b'{"a": "\\u0000"}').is_unknown_protocol


def test_labels_of_formats_are_unique():
    labels = [unsupported.label for unsupported in UNSUPPORTED_FORMATS]

    assert len(set(labels)) == len(labels)


members = st.sampled_from(
    sorted({key for item in UNSUPPORTED_FORMATS for sign in item.signs for key in sign})
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(members, values, max_size=5), st.booleans())
def test_any_document_can_be_searched_for_signs(document, is_yaml):
    found = find_unsupported_format(document, is_yaml=is_yaml)

    assert found is None or found in UNSUPPORTED_FORMATS
