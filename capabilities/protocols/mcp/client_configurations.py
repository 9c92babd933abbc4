"""Configuration files of MCP clients, as their documentation describes them."""

import re
from typing import Any

from ...connections import Snippet, dump_snippet
from .inputs import (
    CLIENT_VARIABLE,
    ENVIRONMENT_VARIABLE,
    Input,
    name_inputs,
    render,
)
from .servers import LocalServer, RemoteServer

SERVER_NAME_LIMIT = 60
# Larger configurations are not displayed.
CONFIGURATION_LIMIT = 20_000
TOO_LARGE = "The configuration is too large to show. See the raw definition."
HAS_CLIENT_VARIABLE = (
    "No configuration is shown, because the definition refers to variables of the"
    " client with `${`, which could reveal values from your computer. See the raw"
    " definition."
)
ENVIRONMENT_NOTE = "Set {} in the environment of the client."
# Variables that the system, the shell or the client itself reads.
SYSTEM_VARIABLE = re.compile(
    r"PATH|PATHEXT|HOME|HOMEDRIVE|HOMEPATH|PWD|OLDPWD|IFS|ENV|USER|USERNAME|LOGNAME"
    r"|USERPROFILE|USERDOMAIN|HOST|HOSTNAME|COMPUTERNAME|SHELL|SHLVL|TERM|COLORTERM"
    r"|EDITOR|VISUAL|PAGER|DISPLAY|WAYLAND_DISPLAY|MAIL|TZ|LANG|LANGUAGE|TMPDIR|TMP"
    r"|TEMP|OS|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|APPDATA|LOCALAPPDATA|PROGRAMDATA"
    r"|PROGRAMFILES|NODE_PATH|NODE_OPTIONS|SSH_AUTH_SOCK|PYTHON.*|(?:LC|LD|DYLD|XDG)_.*"
)

Server = LocalServer | RemoteServer


def build_snippets(name: str, server: Server) -> tuple[list[Snippet], str]:
    """Return the configuration of the server for each client, and why if none."""
    if has_client_variable(server):
        return [], HAS_CLIENT_VARIABLE
    key = build_server_key(name)
    snippets = [
        build_generic_snippet(key, server),
        build_claude_code_snippet(key, server),
        build_cursor_snippet(key, server),
        build_vs_code_snippet(key, server),
    ]
    shown = [
        snippet for snippet in snippets if len(snippet.text) <= CONFIGURATION_LIMIT
    ]
    return shown, "" if shown else TOO_LARGE


def has_client_variable(server: Server) -> bool:
    """Return whether anything that the server declares would be read as `${...}`.

    Placeholders of the client are left out: they are not declared.
    """
    names = name_inputs(server.named_inputs)
    members = dump_snippet(render_server(server, "<YOUR_{}>", names))
    choices = (choice for item in server.inputs for choice in item.choices)
    return any(CLIENT_VARIABLE in text for text in (members, *choices))


def build_server_key(name: str) -> str:
    """Return the part of the name after the slash, without special characters."""
    key = re.sub(r"[^A-Za-z0-9_-]+", "-", name.rsplit("/", 1)[-1])
    return key[:SERVER_NAME_LIMIT].strip("-_") or "server"


def build_generic_snippet(key: str, server: Server) -> Snippet:
    names = name_inputs(server.named_inputs)
    members = render_server(server, "<YOUR_{}>", names)
    return Snippet(
        title="Any client with mcpServers",
        text=dump_snippet({"mcpServers": {key: members}}),
        language="json",
        note=describe_placeholders(server, "Replace {}.", names, "<YOUR_{}>"),
    )


def build_claude_code_snippet(key: str, server: Server) -> Snippet:
    names = name_variables(server)
    members = render_server(server, "${{{}}}", names)
    if isinstance(server, LocalServer):
        members = {"type": "stdio"} | members
    return Snippet(
        title="Claude Code",
        text=dump_snippet({"mcpServers": {key: members}}),
        language="json",
        file_name=".mcp.json",
        note=describe_placeholders(server, ENVIRONMENT_NOTE, names),
    )


def build_cursor_snippet(key: str, server: Server) -> Snippet:
    """Return the configuration without the type of URLs, which Cursor detects."""
    names = name_variables(server)
    members = render_server(server, "${{env:{}}}", names)
    if isinstance(server, LocalServer):
        members = {"type": "stdio"} | members
    else:
        del members["type"]
    return Snippet(
        title="Cursor",
        text=dump_snippet({"mcpServers": {key: members}}),
        language="json",
        file_name=".cursor/mcp.json",
        note=describe_placeholders(server, ENVIRONMENT_NOTE, names),
    )


def name_variables(server: Server) -> dict[Input, str]:
    """Return the environment variable that the client reads for each input.

    The definition must not choose which of the user's variables are sent to a remote
    server or passed as arguments, so they have a prefix. The environment variables of
    a package keep their names.
    """
    is_local = isinstance(server, LocalServer)
    return name_inputs(
        server.named_inputs,
        lambda item: (
            item.name if is_local and keeps_name(item) else f"MCP_{item.identifier}"
        ),
    )


def keeps_name(item: Input) -> bool:
    """Return whether users can set the variable without an effect on other programs."""
    is_variable = item.location == ENVIRONMENT_VARIABLE and item.name == item.identifier
    return is_variable and not SYSTEM_VARIABLE.fullmatch(item.name)


def build_vs_code_snippet(key: str, server: Server) -> Snippet:
    names = name_inputs(server.named_inputs)
    members = render_server(server, "${{input:{}}}", names)
    if isinstance(server, LocalServer):
        members = {"type": "stdio"} | members
    inputs = [build_vs_code_input(item, names[item]) for item in server.inputs]
    configuration = {"inputs": inputs} if inputs else {}
    return Snippet(
        title="VS Code",
        text=dump_snippet(configuration | {"servers": {key: members}}),
        language="json",
        file_name=".vscode/mcp.json",
        note=describe_placeholders(server, "VS Code prompts for {}.", names),
    )


def build_vs_code_input(item: Input, name: str) -> dict[str, Any]:
    """Return the prompt for an input; a list to choose from if it has choices."""
    description = item.description or f"{item.location} {item.name}"
    prompt: dict[str, Any] = {
        "type": "pickString" if item.choices else "promptString",
        "id": name,
        "description": description.replace(CLIENT_VARIABLE, "{"),
    }
    if item.choices:
        return prompt | {"options": list(item.choices)}
    return prompt | ({"password": True} if item.is_secret else {})


def render_server(
    server: Server, placeholder: str, names: dict[Input, str]
) -> dict[str, Any]:
    """Return the members of the server that all clients have in common."""
    if isinstance(server, LocalServer):
        members: dict[str, Any] = {
            "command": server.command,
            "args": [render(value, placeholder, names) for value in server.arguments],
        }
        values_key, values = "env", server.environment
    else:
        members = {"type": server.type, "url": render(server.url, placeholder, names)}
        values_key, values = "headers", server.headers
    if values:
        members[values_key] = {
            name: render(value, placeholder, names) for name, value in values.items()
        }
    return members


def describe_placeholders(
    server: Server, sentence: str, names: dict[Input, str], placeholder: str = "{}"
) -> str:
    """Return the sentence with the names of the inputs, "" if there are none."""
    placeholders = [placeholder.format(names[item]) for item in server.inputs]
    if not placeholders:
        return ""
    *first, last = placeholders
    return sentence.format(f"{', '.join(first)} and {last}" if first else last)
