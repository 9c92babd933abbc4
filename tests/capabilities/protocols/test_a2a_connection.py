"""Commands that call an A2A agent, run against the official SDK."""

import json
import shlex
import subprocess
from contextlib import contextmanager

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2
from google.protobuf.json_format import Parse
from starlette.applications import Starlette

from capabilities.connections import UNSAFE_COMMAND, Connection
from capabilities.problems import Problems
from capabilities.protocols.a2a import A2AParser
from tests.a2a_servers import EchoExecutor, build_card
from tests.mcp_servers import run_app

from .a2a_cards import JSONRPC_INTERFACE, build_v1_card

API_KEY = {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}
QUERY_KEY = {"apiKeySecurityScheme": {"location": "query", "name": "key"}}
BEARER = {"httpAuthSecurityScheme": {"scheme": "Bearer"}}
BASIC = {"httpAuthSecurityScheme": {"scheme": "basic"}}


def connect(*interfaces: dict, **members) -> Connection:
    """Return the connection of a card with changed interfaces of revision 1.0."""
    interfaces = [JSONRPC_INTERFACE | interface for interface in interfaces or [{}]]
    document = build_v1_card(*interfaces, **members)
    parser = A2AParser()
    return parser.build_connection(document, parser.parse(document, Problems()))


def split_command(connection: Connection) -> list[str]:
    """Return the words of the first command, as a shell reads them."""
    return shlex.split(connection.snippets[0].text.replace("\\\n", ""))


def require(*alternatives: list[str]) -> list[dict]:
    """Return security requirements; an alternative lists the schemes it needs."""
    return [{"schemes": {key: {"list": []} for key in keys}} for keys in alternatives]


@contextmanager
def run_agent():
    """Run an agent with the bindings of revisions 0.3 and 1.0, also for a tenant."""
    card = build_card("http://127.0.0.1/rpc")
    handler = DefaultRequestHandler(EchoExecutor(), InMemoryTaskStore(), card)
    routes = create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
    routes += create_rest_routes(handler, enable_v0_3_compat=True)
    with run_app(Starlette(routes=routes)) as base_url:
        yield base_url


@pytest.mark.parametrize("version", ["1.0", "1.0.1", "0.3", "0.3.0"])
@pytest.mark.parametrize(
    ("binding", "path", "tenant"),
    [
        ("JSONRPC", "/rpc", ""),
        ("JSONRPC", "/rpc#tenant=a", "a"),
        ("HTTP+JSON", "", ""),
        ("HTTP+JSON", "/#tenant=north%20wing", "north wing"),
    ],
)
def test_command_is_answered_by_real_agent_t8(version, binding, path, tenant):
    with run_agent() as base_url:
        connection = connect(
            {
                "url": base_url + path,
                "protocolBinding": binding,
                "protocolVersion": version,
                "tenant": tenant,
            }
        )
        command = connection.snippets[0].text
        result = subprocess.run(
            ["sh", "-c", command.replace("curl", "curl -sS", 1)],
            capture_output=True,
            check=True,
            timeout=60,
        )

    answer = json.loads(result.stdout)
    assert "error" not in answer
    assert '"Hello"' in json.dumps(answer)
    assert "#" not in command


def test_command_has_version_header_since_1_0_t8():
    assert "A2A-Version: 1.0" in split_command(connect({"protocolVersion": "1.0.0"}))
    old_command = split_command(connect({"protocolVersion": "0.3.0"}))
    assert not [word for word in old_command if word.startswith("A2A-Version")]


def test_tenant_is_a_parameter_of_jsonrpc_and_a_path_of_rest():
    connection = connect(
        {"tenant": "north"},
        {"tenant": "a b", "protocolBinding": "HTTP+JSON", "url": "https://a.example/r"},
    )
    rest = connection.snippets[1]

    assert json.loads(split_command(connection)[-1])["params"]["tenant"] == "north"
    assert "https://a.example/r/a%20b/message:send" in rest.text
    assert "tenant" not in rest.text


def test_body_is_indented():
    assert '\n  "jsonrpc": "2.0",\n' in connect().snippets[0].text


def test_every_interface_has_a_command():
    connection = connect(
        {"protocolBinding": "GRPC", "url": "agent.example:443"},
        {},
        {"protocolBinding": "HTTP+JSON"},
        {"protocolBinding": "PIGEON"},
    )

    assert [option.title for option in connection.options] == [
        "Send a message over JSONRPC 1.0",
        "Send a message over HTTP+JSON 1.0",
        "Send a message over GRPC 1.0",
    ]
    assert len(connection.endpoints) == 4


@pytest.mark.parametrize(
    ("url", "options", "address"),
    [
        ("agent.example:50051", [], "agent.example:50051"),
        ("https://agent.example/a2a", [], "agent.example:443"),
        ("grpcs://agent.example", [], "agent.example:443"),
        ("http://agent.example:8080", ["-plaintext"], "agent.example:8080"),
        ("grpc://agent.example:9090", ["-plaintext"], "agent.example:9090"),
        ("localhost:50051", ["-plaintext"], "localhost:50051"),
        ("127.0.0.2:50051", ["-plaintext"], "127.0.0.2:50051"),
        ("agent.localhost:1", ["-plaintext"], "agent.localhost:1"),
        ("[::1]:1", ["-plaintext"], "[::1]:1"),
        ("https://[2001:db8::1]:1#tenant=a", [], "[2001:db8::1]:1"),
    ],
)
def test_grpc_interface_has_grpcurl_command_t8(url, options, address):
    interface = {"protocolBinding": "GRPC", "url": url, "tenant": "north"}
    words = split_command(connect(interface))

    assert words[: 1 + len(options)] == ["grpcurl", *options]
    assert words[-2:] == [address, "lf.a2a.v1.A2AService/SendMessage"]
    assert words[-6:-4] == ["-H", "A2A-Version: 1.0"]
    message = Parse(words[-3], a2a_pb2.SendMessageRequest())
    assert (message.tenant, message.message.parts[0].text) == ("north", "Hello")


def test_grpc_command_of_revision_0_3_is_valid():
    interface = {
        "protocolBinding": "GRPC",
        "url": "agent.example:1",
        "protocolVersion": "0.3",
    }
    words = split_command(connect(interface))

    assert words[-1] == "a2a.v1.A2AService/SendMessage"
    message = Parse(words[-3], a2a_v0_3_pb2.SendMessageRequest())
    assert message.request.content[0].text == "Hello"


@pytest.mark.parametrize("url", ["", "grpc://", "http://[", "-x:1", "a b:1", "a:b"])
def test_invalid_grpc_address_has_no_command(url):
    assert connect({"protocolBinding": "GRPC", "url": url}).options == []


def test_names_of_services_are_those_of_the_sdk():
    assert a2a_pb2.DESCRIPTOR.services_by_name["A2AService"].full_name == (
        "lf.a2a.v1.A2AService"
    )
    old_service = a2a_v0_3_pb2.DESCRIPTOR.services_by_name["A2AService"]
    assert old_service.full_name == "a2a.v1.A2AService"


def test_required_credential_is_used_rather_than_the_first_t8():
    connection = connect(
        securitySchemes={"first": API_KEY, "second": BEARER},
        securityRequirements=require(["second"]),
    )
    words = split_command(connection)

    assert connection.credentials == ["HTTP Bearer"]
    assert "Authorization: Bearer YOUR_TOKEN" in words
    assert "X-Key: YOUR_KEY" not in words


def test_alternatives_and_combinations_are_described():
    connection = connect(
        securitySchemes={"a": API_KEY, "b": BEARER},
        securityRequirements=require(["a", "b"], ["c"], []),
    )

    assert connection.credentials == [
        "API key in the header as X-Key; and HTTP Bearer",
        "Or: c, not declared",
        "Or: no credentials",
    ]
    words = split_command(connection)
    assert {"X-Key: YOUR_KEY", "Authorization: Bearer YOUR_TOKEN"} <= set(words)


def test_schemes_without_requirements_are_listed():
    connection = connect(securitySchemes={"a": API_KEY, "b": BEARER})

    assert connection.credentials == ["API key in the header as X-Key", "HTTP Bearer"]
    assert "X-Key: YOUR_KEY" in split_command(connection)


def test_credential_in_query_is_added_to_the_url():
    connection = connect(
        {"url": "https://desk.example.com/rpc?a=1#tenant=x"},
        securitySchemes={"a": QUERY_KEY},
    )

    assert "https://desk.example.com/rpc?a=1&key=YOUR_KEY" in split_command(connection)


@pytest.mark.parametrize(
    ("version", "path"), [("1.0", "/n/message:send"), ("0.3", "/v1/message:send")]
)
def test_rest_command_keeps_the_query_of_the_url(version, path):
    interface = {
        "protocolBinding": "HTTP+JSON",
        "url": "https://desk.example.com/a2a/?x=1#part",
        "protocolVersion": version,
        "tenant": "n",
    }
    connection = connect(interface, securitySchemes={"a": QUERY_KEY})

    url = f"https://desk.example.com/a2a{path}?x=1&key=YOUR_KEY"
    assert url in split_command(connection)


def test_basic_credentials_are_an_option_of_curl():
    command = connect(securitySchemes={"a": BASIC}).snippets[0].text

    assert "-u YOUR_USER:YOUR_PASSWORD" in command


@pytest.mark.parametrize("name", ["x'; rm -rf /;'", 'a"$(reboot)`x`'])
def test_hostile_names_cannot_leave_their_argument(name):
    key = {"apiKeySecurityScheme": {"location": "header", "name": name}}
    connection = connect({"tenant": name}, securitySchemes={"a": key})
    words = split_command(connection)

    assert f"{name}: YOUR_KEY" in words
    assert json.loads(words[-1])["params"]["tenant"] == name


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
@pytest.mark.parametrize("name", ["X\u202eyek", "X-\u200bKey", "a\nb", "a\x1b[2K"])
def test_command_with_deceptive_characters_is_not_shown(name, binding):
    key = {"apiKeySecurityScheme": {"location": "header", "name": name}}
    connection = connect({"protocolBinding": binding}, securitySchemes={"a": key})

    (option,) = connection.options
    assert (option.snippets, option.note) == ([], UNSAFE_COMMAND)


def test_deceptive_characters_in_a_body_are_escaped():
    words = split_command(connect({"tenant": "a\u202e\nb"}))

    assert "a\\u202e\\nb" in words[-1]
