import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.protocols.mcp.server_json_rules import (
    OLDER_SPELLINGS,
    find_server_json_problems,
    is_server_json,
)

from .mcp_documents import get_warning_paths, load_sample, parse_document

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
STDIO = {"type": "stdio"}


def build_server_json(**members):
    return {
        "$schema": SCHEMA,
        "name": "com.example/tides",
        "description": "High and low water",
        "version": "1.0.0",
        **members,
    }


def build_package(**members):
    package = {"registryType": "npm", "identifier": "tides", "transport": STDIO}
    return build_server_json(packages=[package | members])


def build_remote(**members):
    remote = {"type": "sse", "url": "https://tides.example/sse"}
    return build_server_json(remotes=[remote | members])


def build_argument(**members):
    return build_package(packageArguments=[members])


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"name": "tides"}, "$.name"),
        ({"name": "com.example/tides/high"}, "$.name"),
        ({"name": f"a/{'b' * 199}"}, "$.name"),
        ({"description": "d" * 101}, "$.description"),
        ({"description": ""}, "$.description"),
        ({"description": None}, "$.description"),
        ({"version": None}, "$.version"),
        ({"version": "latest"}, "$.version"),
        ({"title": ""}, "$.title"),
        ({"title": "t" * 101}, "$.title"),
        ({"websiteUrl": "tides.example"}, "$.websiteUrl"),
        ({"repository": "https://git.example/tides"}, "$.repository"),
        (
            {"repository": {"url": "https://git.example/tides"}},
            "$.repository.source",
        ),
        ({"repository": {"url": "git", "source": "git"}}, "$.repository.url"),
        ({"icons": [{"src": "http://tides.example/icon.png"}]}, "$.icons[0].src"),
        ({"icons": [{}]}, "$.icons[0].src"),
        ({"icons": "icon.png"}, "$.icons"),
    ],
)
def test_server_json_is_held_against_the_rules_t13(members, path):
    document = build_server_json(**members)

    assert parse_document(document).is_valid
    assert get_warning_paths(document) == [path]


@pytest.mark.parametrize(
    "version", ["^1.2", "~1", ">=1", "<2.0", "1.x", "1.2.*", "*", "1 - 2", "1 || 2"]
)
def test_version_range_of_server_json_is_a_warning(version):
    assert get_warning_paths(build_server_json(version=version)) == ["$.version"]
    paths = get_warning_paths(build_package(version=version))
    assert paths == ["$.packages[0].version"]


@pytest.mark.parametrize(
    "version", ["1", "1.2.3", "2025.11.25", "1.0.0-alpha.x", "1.0.0+a-b", "v1-x"]
)
def test_single_version_of_server_json_is_no_problem(version):
    assert get_warning_paths(build_server_json(version=version)) == []


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"registryType": "maven"}, "registryType"),
        ({"registryType": ["npm"]}, "registryType"),
        ({"registryType": None}, "registryType"),
        ({"identifier": ""}, "identifier"),
        ({"identifier": 5}, "identifier"),
        ({"transport": None}, "transport"),
        ({"transport": {"type": "websocket"}}, "transport.type"),
        ({"transport": {"type": "sse"}}, "transport.url"),
        ({"registryType": "mcpb"}, "fileSha256"),
        ({"fileSha256": "abc"}, "fileSha256"),
        ({"version": "latest"}, "version"),
        ({"environmentVariables": [{"value": "x"}]}, "environmentVariables[0].name"),
        ({"environmentVariables": {"KEY": "x"}}, "environmentVariables"),
        ({"runtimeArguments": ["-y"]}, "runtimeArguments[0]"),
    ],
)
def test_package_of_server_json_is_held_against_the_rules(members, path):
    document = build_package(**members)

    assert parse_document(document).is_valid
    assert get_warning_paths(document) == [f"$.packages[0].{path}"]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"type": "websocket"}, "type"),
        ({"type": "stdio"}, "type"),
        ({"headers": [{"description": "d"}]}, "headers[0].name"),
        ({"headers": [{"name": "X", "isSecret": "yes"}]}, "headers[0].isSecret"),
        ({"variables": []}, "variables"),
        ({"variables": {"a": {"format": "uuid"}}}, "variables.a.format"),
    ],
)
def test_remote_of_server_json_is_held_against_the_rules(members, path):
    document = build_remote(**members)

    assert parse_document(document).is_valid
    assert get_warning_paths(document) == [f"$.remotes[0].{path}"]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"type": "positional"}, ""),
        ({"type": "named"}, ".name"),
        ({"type": "flag", "name": "-y"}, ".type"),
        ({"name": "-y"}, ".type"),
        ({"type": "named", "name": "-y", "isRequired": 1}, ".isRequired"),
        ({"type": "named", "name": "-y", "isRepeated": "no"}, ".isRepeated"),
        ({"type": "named", "name": "-y", "choices": "a"}, ".choices"),
        ({"type": "named", "name": "-y", "choices": [1]}, ".choices"),
        ({"type": "named", "name": "-y", "default": 5}, ".default"),
        ({"type": "named", "name": "-y", "variables": {"a": 5}}, ".variables.a"),
    ],
)
def test_argument_of_server_json_is_held_against_the_rules(members, path):
    paths = get_warning_paths(build_argument(**members))

    assert paths == [f"$.packages[0].packageArguments[0]{path}"]


def test_valid_server_json_has_no_warnings():
    document = build_package(
        registryType="mcpb",
        fileSha256="0a" * 32,
        version="1.2.3",
        packageArguments=[
            {"type": "positional", "valueHint": "harbour"},
            {"type": "positional", "value": "{port}", "variables": {"port": {}}},
            {"type": "named", "name": "--units", "choices": ["m", "ft"]},
        ],
        environmentVariables=[{"name": "KEY", "isRequired": True, "isSecret": True}],
    )

    assert get_warning_paths(document) == []


def test_older_spelling_is_one_warning():
    package = {"registry_type": "npm", "identifier": "tides", "is_required": True}
    document = {"name": "com.example/tides", "packages": [package] * 3}

    (warning,) = parse_document(document).warnings
    assert warning.path == "$.packages[0].registry_type"
    assert "current name is registryType" in warning.message


def test_current_spellings_in_an_older_document_are_checked():
    package = {"registry_type": "npm", "identifier": "tides", "fileSha256": "abc"}
    document = {"name": "com.example/tides", "packages": [package], "version": "latest"}

    assert get_warning_paths(document) == [
        "$.packages[0].registry_type",
        "$.version",
        "$.packages[0].fileSha256",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "introspection",
        "server_card",
        "server_card_sep1649",
        "card_server_list",
        "card_sse_url",
    ],
)
def test_cards_and_answers_are_not_held_against_the_rules(name):
    assert not is_server_json(load_sample(name))


@pytest.mark.parametrize(
    "document",
    [
        {"name": "tides", "remotes": []},
        {"$schema": SCHEMA.replace("server.", "server-card."), "packages": []},
        {"$schema": "https://a.example/server.schema.json", "packages": []},
        {"name": "a/b", "remotes": [], "tools": []},
        {"$schema": 5, "url": "https://a.example", "packages": []},
    ],
)
def test_document_of_other_schema_is_not_a_server_json(document):
    assert not is_server_json(document)


def test_only_a_bounded_number_of_items_is_checked():
    variables = [{}] * 300_000
    package = {"registryType": "npm", "environmentVariables": variables}

    problems = find_server_json_problems(build_package(**package), "$")

    path = "$.packages[0].environmentVariables"
    assert (problems[0].path, len(problems)) == (path, 1_001)


def test_problem_inside_a_registry_response_has_its_full_path():
    document = {"server": build_server_json(version="latest"), "_meta": {}}

    assert get_warning_paths(document) == ["$.server.version"]


keys = st.sampled_from(
    [
        *("name", "version", "title", "repository", "icons", "packages", "remotes"),
        *("type", "url", "headers", "variables", "transport", "fileSha256", "choices"),
        *("registryType", "packageArguments", "environmentVariables", "format", "src"),
        *OLDER_SPELLINGS,
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["mcpb", "named", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(keys, values, max_size=6))
def test_rules_can_be_applied_to_any_document(document):
    is_server_json(document)

    for problem in find_server_json_problems(document, "$"):
        assert problem.path.startswith("$")
        assert problem.message
