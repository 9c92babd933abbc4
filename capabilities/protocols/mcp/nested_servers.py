"""Cards that describe the server in an object inside: in `server` or `servers`."""

from typing import Any

from ...problems import Document, Problems, member_path
from .registry_response import LocatedObject

# Members with the location of a server.
LOCATION_MEMBERS = {
    "endpoint",
    "packages",
    "remotes",
    "serverUrl",
    "sse_url",
    "transport",
    "transports",
    "url",
}
# Members of OpenAPI and AsyncAPI, which have `servers` as well.
API_DESCRIPTION_MEMBERS = {"asyncapi", "openapi", "paths", "swagger"}


def find_nested_servers(document: Document) -> list[LocatedObject]:
    """Return the objects in `server` and `servers` that have a location."""
    if API_DESCRIPTION_MEMBERS & document.keys():
        return []
    listed = document.get("servers")
    candidates: list[tuple[str, Any]] = [("$.server", document.get("server"))]
    if isinstance(listed, list):
        candidates += [(f"$.servers[{n}]", item) for n, item in enumerate(listed)]
    return [
        LocatedObject(value, path)
        for path, value in candidates
        if isinstance(value, dict) and LOCATION_MEMBERS & value.keys()
    ]


def read_nested_servers(root: LocatedObject, problems: Problems) -> list[LocatedObject]:
    """Return the nested objects that describe the server, without what the root has.

    Add an error if they describe several servers.
    """
    document, path = root
    nested = find_nested_servers(document)
    listed = [item for item in nested if item.path.startswith("$.servers[")]
    if len(listed) > 1:
        message = (
            f"lists {len(listed)} servers; register each of them separately, as a"
            " document of its own"
        )
        problems.error(member_path(path, "servers"), message)
        return []
    return [
        LocatedObject(
            remove_repeated_members(members, document, problems, nested_path),
            nested_path,
        )
        for nested_path, members in (
            (path + item.path.removeprefix("$"), item.members) for item in nested
        )
    ]


def remove_repeated_members(
    members: Document, document: Document, problems: Problems, path: str
) -> Document:
    """Return the members that the document does not have, and those with a location.

    Add a warning for each member that the document has with another value.
    """
    repeated = (members.keys() & document.keys()) - LOCATION_MEMBERS
    for key in sorted(repeated):
        if members[key] != document[key]:
            message = f"is ignored, because the document has its own {key!r}"
            problems.warning(member_path(path, key), message)
    return {key: value for key, value in members.items() if key not in repeated}
