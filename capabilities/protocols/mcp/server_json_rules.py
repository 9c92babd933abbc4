"""The rules that the registry has for server.json, as warnings at their paths.

They are those of the schema of 2025-12-11. Earlier schemas spell many members in
snake_case; documents with such members may lack what the current schema requires.
"""

import re
from collections.abc import Iterator

from ...problems import (
    Document,
    Problem,
    append_limited,
    find_url_error,
    member_path,
)
from ...records import CAPABILITY_LIMIT

SERVER_NAME_PATTERN = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
NAME_LENGTHS = range(3, 201)
SHA256_PATTERN = re.compile(r"[a-fA-F0-9]{64}")
VERSION_RANGE = re.compile(r"[\^~<>=|]|\s-\s|^v?(?:[0-9]+\.)*[xX*](?:\.|$)")
REGISTRY_TYPES = ("npm", "pypi", "cargo", "oci", "nuget", "mcpb")
REMOTE_TYPES = ("streamable-http", "sse")
PACKAGE_TRANSPORT_TYPES = ("stdio", *REMOTE_TYPES)
INPUT_FORMATS = ("string", "number", "boolean", "filepath")
ARGUMENT_LISTS = ("runtimeArguments", "packageArguments")
# Spellings of earlier schemas, and the current ones.
OLDER_SPELLINGS = {
    "environment_variables": "environmentVariables",
    "file_sha256": "fileSha256",
    "is_repeated": "isRepeated",
    "is_required": "isRequired",
    "is_secret": "isSecret",
    "package_arguments": "packageArguments",
    "registry_base_url": "registryBaseUrl",
    "registry_name": "registryType",
    "registry_type": "registryType",
    "runtime_arguments": "runtimeArguments",
    "runtime_hint": "runtimeHint",
    "transport_type": "type",
    "value_hint": "valueHint",
    "version_detail": "version",
    "website_url": "websiteUrl",
}
# Members of cards and of the answers of servers, which server.json does not have.
CARD_MEMBERS = {
    "capabilities",
    "endpoint",
    "prompts",
    "protocolVersion",
    "protocol_version",
    "resourceTemplates",
    "resources",
    "server",
    "serverInfo",
    "serverUrl",
    "servers",
    "tools",
    "transport",
    "transports",
    "url",
}


class RuleProblems:
    """Collects violations of the rules.

    Missing members are problems only with `requires_members`.
    """

    def __init__(self, *, requires_members: bool) -> None:
        self.requires_members = requires_members
        self.found: list[Problem] = []

    def add(self, path: str, message: str) -> None:
        append_limited(self.found, Problem(path, message))

    def require(self, document: Document, key: str, path: str) -> None:
        """Add a problem if the member is missing or empty."""
        if self.requires_members and document.get(key) in (None, ""):
            message = "is required by server.json but missing"
            self.add(member_path(path, key), message)

    def iter_objects(
        self, document: Document, key: str, path: str
    ) -> Iterator[tuple[str, Document]]:
        """Yield path and object for each item of an optional list."""
        values, list_path = document.get(key), member_path(path, key)
        if values is None:
            return
        if not isinstance(values, list):
            self.add(list_path, "should be a list of objects")
            return
        if len(values) > CAPABILITY_LIMIT:
            message = f"has over {CAPABILITY_LIMIT} items; the others are not checked"
            self.add(list_path, message)
        for index, value in enumerate(values[:CAPABILITY_LIMIT]):
            if isinstance(value, dict):
                yield f"{list_path}[{index}]", value
            else:
                self.add(f"{list_path}[{index}]", "should be an object")

    def check_length(self, document: Document, key: str, path: str, limit: int) -> None:
        value = document.get(key)
        if isinstance(value, str) and not 1 <= len(value) <= limit:
            message = f"should have 1 to {limit} characters, but has {len(value)}"
            self.add(member_path(path, key), message)

    def check_choice(
        self, document: Document, key: str, path: str, choices: tuple[str, ...]
    ) -> None:
        value = document.get(key)
        if value not in (None, "") and value not in choices:
            message = f"should be one of: {', '.join(choices)}"
            self.add(member_path(path, key), message)

    def check_url(self, document: Document, key: str, path: str) -> None:
        value = document.get(key)
        if value is None:
            return
        error = find_url_error(value) if isinstance(value, str) else "must be a string"
        if error:
            self.add(member_path(path, key), error)


def is_server_json(server: Document) -> bool:
    """Return whether the document is a server.json, not a card or an answer."""
    schema = server.get("$schema")
    if isinstance(schema, str) and schema:
        is_of_mcp = "modelcontextprotocol.io/" in schema
        return is_of_mcp and schema.endswith("/server.schema.json")
    if CARD_MEMBERS & server.keys():
        return False
    name = server.get("name")
    has_namespace = isinstance(name, str) and "/" in name
    return isinstance(server.get("packages"), list) or (
        has_namespace and "remotes" in server
    )


def find_server_json_problems(server: Document, path: str) -> list[Problem]:
    """Return a problem for each rule that the document does not follow.

    A document with spellings of an earlier schema gets one problem for all of them.
    """
    older_spelling = find_older_spelling(server, path)
    rules = RuleProblems(requires_members=older_spelling is None)
    check_server(server, path, rules)
    return [older_spelling, *rules.found] if older_spelling else rules.found


def find_older_spelling(server: Document, path: str) -> Problem | None:
    """Return a problem at the first member with the spelling of an earlier schema."""
    for object_path, members in iter_described_objects(server, path):
        for key in members:
            if key in OLDER_SPELLINGS:
                message = (
                    "is spelled as in an earlier schema; the current name is"
                    f" {OLDER_SPELLINGS[key]}. Members with earlier names are not"
                    " checked"
                )
                return Problem(member_path(object_path, key), message)
    return None


def iter_described_objects(
    server: Document, path: str
) -> Iterator[tuple[str, Document]]:
    """Yield the document, its remotes and packages, and the inputs of those."""
    yield path, server
    rules = RuleProblems(requires_members=False)
    for key in ("packages", "remotes"):
        for item_path, item in rules.iter_objects(server, key, path):
            yield item_path, item
            for list_key in (*ARGUMENT_LISTS, "environmentVariables", "headers"):
                yield from rules.iter_objects(item, list_key, item_path)


def check_server(server: Document, path: str, rules: RuleProblems) -> None:
    for key in ("name", "description", "version"):
        rules.require(server, key, path)
    check_name(server, path, rules)
    rules.check_length(server, "title", path, 100)
    if server.get("description"):
        rules.check_length(server, "description", path, 100)
    check_version(server, path, rules)
    rules.check_url(server, "websiteUrl", path)
    check_repository(server, path, rules)
    check_icons(server, path, rules)
    for package_path, package in rules.iter_objects(server, "packages", path):
        check_package(package, package_path, rules)
    for remote_path, remote in rules.iter_objects(server, "remotes", path):
        rules.require(remote, "type", remote_path)
        rules.check_choice(remote, "type", remote_path, REMOTE_TYPES)
        check_connection(remote, remote_path, rules)


def check_name(server: Document, path: str, rules: RuleProblems) -> None:
    name, name_path = server.get("name"), member_path(path, "name")
    if not isinstance(name, str) or not name:
        return
    if not SERVER_NAME_PATTERN.fullmatch(name):
        message = (
            "should be a reversed domain, one slash and a name of letters, digits,"
            " dots, hyphens and underscores, such as com.example/weather"
        )
        rules.add(name_path, message)
    elif len(name) not in NAME_LENGTHS:
        rules.add(name_path, f"should have 3 to 200 characters, but has {len(name)}")


def check_version(document: Document, path: str, rules: RuleProblems) -> None:
    version, version_path = document.get("version"), member_path(path, "version")
    if not isinstance(version, str):
        return
    if version.strip() == "latest":
        rules.add(version_path, "should be a specific version, not 'latest'")
    elif VERSION_RANGE.search(version.strip()):
        rules.add(version_path, "should be a specific version, not a range")


def check_repository(server: Document, path: str, rules: RuleProblems) -> None:
    repository, repository_path = (
        server.get("repository"),
        member_path(path, "repository"),
    )
    if repository is None:
        return
    if not isinstance(repository, dict):
        rules.add(repository_path, "should be an object with url and source")
        return
    for key in ("url", "source"):
        rules.require(repository, key, repository_path)
    if repository.get("url") != "":
        rules.check_url(repository, "url", repository_path)


def check_icons(server: Document, path: str, rules: RuleProblems) -> None:
    for icon_path, icon in rules.iter_objects(server, "icons", path):
        rules.require(icon, "src", icon_path)
        source = icon.get("src")
        if source and not (isinstance(source, str) and source.startswith("https://")):
            rules.add(member_path(icon_path, "src"), "should be an https URL")


def check_package(package: Document, path: str, rules: RuleProblems) -> None:
    for key in ("registryType", "identifier", "transport"):
        rules.require(package, key, path)
    rules.check_choice(package, "registryType", path, REGISTRY_TYPES)
    identifier = package.get("identifier")
    if identifier is not None and not isinstance(identifier, str):
        rules.add(member_path(path, "identifier"), "should be a string")
    check_version(package, path, rules)
    rules.check_length(package, "version", path, 255)
    check_hash(package, path, rules)
    check_package_transport(package, path, rules)
    for key in ARGUMENT_LISTS:
        for argument_path, argument in rules.iter_objects(package, key, path):
            check_argument(argument, argument_path, rules)
    check_key_value_inputs(package, "environmentVariables", path, rules)


def check_hash(package: Document, path: str, rules: RuleProblems) -> None:
    if package.get("registryType") == "mcpb":
        rules.require(package, "fileSha256", path)
    value = package.get("fileSha256")
    is_hash = isinstance(value, str) and SHA256_PATTERN.fullmatch(value)
    if value not in (None, "") and not is_hash:
        message = "should be a SHA-256 hash of 64 hexadecimal digits"
        rules.add(member_path(path, "fileSha256"), message)


def check_package_transport(package: Document, path: str, rules: RuleProblems) -> None:
    transport, transport_path = (
        package.get("transport"),
        member_path(path, "transport"),
    )
    if transport in (None, ""):
        return
    if not isinstance(transport, dict):
        rules.add(transport_path, "should be an object with type")
        return
    rules.require(transport, "type", transport_path)
    rules.check_choice(transport, "type", transport_path, PACKAGE_TRANSPORT_TYPES)
    if transport.get("type") in REMOTE_TYPES:
        check_connection(transport, transport_path, rules)


def check_connection(connection: Document, path: str, rules: RuleProblems) -> None:
    """Check the members that a transport over HTTP has besides its type."""
    rules.require(connection, "url", path)
    check_key_value_inputs(connection, "headers", path, rules)
    check_variables(connection, path, rules)


def check_key_value_inputs(
    document: Document, key: str, path: str, rules: RuleProblems
) -> None:
    for input_path, item in rules.iter_objects(document, key, path):
        rules.require(item, "name", input_path)
        check_input(item, input_path, rules)
        check_variables(item, input_path, rules)


def check_variables(document: Document, path: str, rules: RuleProblems) -> None:
    variables, variables_path = (
        document.get("variables"),
        member_path(path, "variables"),
    )
    if variables is not None and not isinstance(variables, dict):
        rules.add(variables_path, "should be an object")
    for key, value in (variables if isinstance(variables, dict) else {}).items():
        if isinstance(value, dict):
            check_input(value, member_path(variables_path, key), rules)
        else:
            rules.add(member_path(variables_path, key), "should be an object")


def check_argument(argument: Document, path: str, rules: RuleProblems) -> None:
    rules.require(argument, "type", path)
    rules.check_choice(argument, "type", path, ("positional", "named"))
    if argument.get("type") == "named":
        rules.require(argument, "name", path)
    has_value = argument.get("value") or argument.get("valueHint")
    is_positional = argument.get("type") == "positional"
    if is_positional and rules.requires_members and not has_value:
        message = "is a positional argument, which should have value or valueHint"
        rules.add(path, message)
    check_input(argument, path, rules)
    check_variables(argument, path, rules)


def check_input(item: Document, path: str, rules: RuleProblems) -> None:
    for key in ("isRequired", "isSecret", "isRepeated"):
        if not isinstance(item.get(key), bool | None):
            rules.add(member_path(path, key), "should be true or false")
    rules.check_choice(item, "format", path, INPUT_FORMATS)
    choices = item.get("choices")
    is_string_list = isinstance(choices, list) and all(
        isinstance(choice, str) for choice in choices
    )
    if choices is not None and not is_string_list:
        rules.add(member_path(path, "choices"), "should be a list of strings")
    for key in ("default", "description", "placeholder", "value"):
        if not isinstance(item.get(key), str | None):
            rules.add(member_path(path, key), "should be a string")
