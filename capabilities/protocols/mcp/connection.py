"""How clients connect to an MCP server."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from ...connections import (
    UNSAFE_COMMAND,
    Connection,
    ConnectionOption,
    Endpoint,
    Snippet,
    build_shell_command,
)
from ...problems import Document, Problems
from ...records import AgentRecord, is_web_url
from .addresses import read_all_transports
from .client_configurations import (
    HAS_CLIENT_VARIABLE,
    TOO_LARGE,
    build_snippets,
    has_client_variable,
)
from .inputs import (
    CLIENT_VARIABLE,
    Input,
    fill_template,
    get_objects,
    get_text,
    iter_variables,
    name_inputs,
    read_input,
    read_setting,
    render,
    shorten,
)
from .nested_servers import read_nested_servers
from .packages import SETTING_LIMIT, Package, read_local_server
from .registry_response import LocatedObject
from .servers import LocalServer, RemoteServer, select_values
from .stub import describe_stub_credentials
from .transports import STREAMABLE_HTTP, URL_TEMPLATE, normalize_transport_type

OPTION_LIMIT = 8
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
SSE = "sse"
# The name of each type of transport in the configuration of clients, best first.
CLIENT_TYPES = {STREAMABLE_HTTP: "http", "http": "http", "": "http", SSE: SSE}
TRANSPORT_LABELS = {"http": "MCP over HTTP", SSE: "MCP over SSE"}
START_NOTE = "Start the server, then configure your client with its address."


@dataclass(frozen=True, slots=True)
class ServerOption:
    """An option with its endpoint and with what users can supply."""

    option: ConnectionOption
    endpoint: Endpoint
    inputs: list[Input] = field(default_factory=list)


def build_connection(document: Document, record: AgentRecord) -> Connection:
    """Offer remotes first, over streamable HTTP, then SSE; then the packages."""
    found = list(islice(iter_options(document, record), OPTION_LIMIT + 1))
    options, has_more = found[:OPTION_LIMIT], len(found) > OPTION_LIMIT
    inputs = [item for option in options for item in option.inputs]
    secrets = [item.describe() for item in inputs if is_credential(item)]
    settings = [item.describe() for item in inputs if not is_credential(item)]
    return Connection(
        endpoints=[option.endpoint for option in options]
        or [Endpoint(record.endpoint, "MCP")],
        credentials=[
            *describe_stub_credentials(document),
            *dict.fromkeys(secrets),
        ],
        settings=list(dict.fromkeys(settings)),
        options=[option.option for option in options]
        + [ConnectionOption("More ways to connect: see the raw definition")] * has_more,
    )


def is_credential(item: Input) -> bool:
    """Return whether to list an input as a credential: a secret or a header."""
    return item.is_secret or item.location.startswith("Header")


def iter_options(document: Document, record: AgentRecord) -> Iterator[ServerOption]:
    name = get_text(document, "name") or record.name
    yield from iter_remote_options(document, record, name)
    for package_document in get_objects(document, "packages"):
        yield build_package_option(Package.from_document(package_document), name)


def iter_remote_options(
    document: Document, record: AgentRecord, name: str
) -> Iterator[ServerOption]:
    """Yield the remotes of the types that clients know, and the endpoint itself."""
    remotes = list(filter(is_remote, get_objects(document, "remotes")))
    package_urls = {
        get_text(Package.from_document(package).transport, "url")
        for package in get_objects(document, "packages")
    }
    urls = {get_text(remote, "url") for remote in remotes} | package_urls
    if is_web_url(record.endpoint) and record.endpoint not in urls:
        endpoint = {
            "type": find_type(document, record.endpoint),
            "url": record.endpoint,
        }
        remotes = [remote for remote in (endpoint, *remotes) if is_remote(remote)]
    types = list(CLIENT_TYPES)
    remotes.sort(key=lambda remote: types.index(get_remote_type(remote)))
    for remote in remotes:
        yield build_remote_option(remote, name)


def is_remote(transport: Document) -> bool:
    """Return whether clients can connect to the URL of a transport."""
    has_url = URL_TEMPLATE.fullmatch(get_text(transport, "url"))
    return bool(has_url) and get_remote_type(transport) in CLIENT_TYPES


def get_remote_type(remote: Document) -> str:
    transport_type = get_text(remote, "type") or get_text(remote, "transport_type")
    return normalize_transport_type(transport_type)


def find_type(document: Document, url: str) -> str:
    """Return the type of the transport that is declared with this URL, "" if none.

    A type that clients know is preferred.
    """
    root, problems = LocatedObject(document, "$"), Problems()
    nested = read_nested_servers(root, problems)
    transports = read_all_transports(root, nested, problems)
    types = [transport.type for transport in transports if transport.url == url]
    return next((name for name in types if name in CLIENT_TYPES), "".join(types[:1]))


def build_remote_option(remote: Document, name: str) -> ServerOption:
    client_type = CLIENT_TYPES[get_remote_type(remote)]
    label = TRANSPORT_LABELS[client_type]
    url = get_text(remote, "url")
    endpoint = Endpoint(url, label)
    server, inputs = read_remote_server(remote, client_type, {})
    if server is None:
        option = ConnectionOption(label, note=explain_unusable_url(url))
        return ServerOption(option, endpoint)
    snippets, note = build_snippets(name, server)
    option = ConnectionOption(f"{label}: {shorten(url)}", snippets, note)
    return ServerOption(option, endpoint, inputs)


def read_remote_server(
    remote: Document, client_type: str, variables: dict[str, Input]
) -> tuple[RemoteServer | None, list[Input]]:
    """Return a remote and what users can supply; None if its URL is unusable."""
    url_input = read_input({}, "URL", "")
    url_variables = dict(iter_variables(remote, url_input))
    url = get_text(remote, "url")
    value = fill_template(url, variables | url_variables, url_input, is_url=True)
    headers = get_objects(remote, "headers")
    if value is None or len(headers) > SETTING_LIMIT:
        return None, []
    settings = [
        read_setting(header, "Header", header_name)
        for header in headers
        if HEADER_NAME.fullmatch(header_name := get_text(header, "name").strip())
    ]
    inputs = [item for setting in settings for item in setting.inputs]
    server = RemoteServer(client_type, value, select_values(settings))
    return server, [*url_variables.values(), *inputs]


def explain_unusable_url(url: str) -> str:
    return HAS_CLIENT_VARIABLE if CLIENT_VARIABLE in url else TOO_LARGE


def build_package_option(package: Package, name: str) -> ServerOption:
    endpoint = Endpoint(package.title, "MCP over stdio")
    if reason := package.unavailable_reason:
        return ServerOption(ConnectionOption(package.title, note=reason), endpoint)
    server, inputs = read_local_server(package)
    if has_client_variable(server):
        option = ConnectionOption(package.title, note=HAS_CLIENT_VARIABLE)
        return ServerOption(option, endpoint, inputs)
    if is_remote(package.transport):
        return build_listening_option(package, name, server, inputs)
    snippets, error = build_snippets(name, server)
    option = ConnectionOption(package.title, snippets, error or package.preparation)
    return ServerOption(option, endpoint, inputs)


def build_listening_option(
    package: Package, name: str, local: LocalServer, inputs: list[Input]
) -> ServerOption:
    """Return the option of a package that the user starts and that listens at a URL."""
    client_type = CLIENT_TYPES[get_remote_type(package.transport)]
    url = get_text(package.transport, "url")
    endpoint = Endpoint(url, TRANSPORT_LABELS[client_type])
    variables = {item.name.lstrip("-"): item for item in inputs} | {
        item.name: item for item in inputs
    }
    remote, remote_inputs = read_remote_server(
        package.transport, client_type, variables
    )
    snippets: list[Snippet] = []
    error = explain_unusable_url(url)
    if remote:
        remote = replace(remote, package_inputs=local.inputs)
        snippets, error = build_snippets(name, remote)
    if error:
        option = ConnectionOption(package.title, note=error)
        return ServerOption(option, endpoint, inputs)
    note = f"{package.preparation} {START_NOTE}".strip()
    if command := build_start_command(local):
        snippets = [Snippet("Start the server", command, "sh"), *snippets]
    else:
        note = f"{note} {UNSAFE_COMMAND}"
    option = ConnectionOption(package.title, snippets, note)
    return ServerOption(option, endpoint, [*inputs, *remote_inputs])


def build_start_command(server: LocalServer) -> str:
    """Return a shell command with the environment variables before it."""
    names = name_inputs(server.inputs)
    environment = {
        name: render(value, "<YOUR_{}>", names)
        for name, value in server.environment.items()
    }
    arguments = [render(value, "<YOUR_{}>", names) for value in server.arguments]
    return build_shell_command([[server.command, *arguments]], environment)
