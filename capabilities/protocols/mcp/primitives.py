"""The tools, resources and prompts that an MCP definition lists."""

from collections.abc import Iterator

from ...problems import Document, Problems, member_path
from .records import MCPPrompt, MCPResource, MCPTool


def iter_items(
    server: Document, key: str, problems: Problems, path: str
) -> Iterator[tuple[str, Document]]:
    """Yield path and object for each item of a list.

    Cards of SEP-1649 may have the string `dynamic` instead of a list.
    """
    if server.get(key) in ("dynamic", ["dynamic"]):
        message = "is dynamic; only the running server can list its items"
        problems.warning(member_path(path, key), message)
        return
    yield from problems.iter_objects(server, key, path)


def read_tools(server: Document, problems: Problems, path: str) -> Iterator[MCPTool]:
    for item_path, item in iter_items(server, "tools", problems, path):
        yield read_tool(item_path, item, problems)


def read_tool(path: str, item: Document, problems: Problems) -> MCPTool:
    if item.get("inputSchema") is None:
        schema_path = member_path(path, "inputSchema")
        problems.warning(schema_path, "is required by MCP but missing")
    annotations = read_object(item, "annotations", problems, path)
    annotations_path = member_path(path, "annotations")
    legacy_title = problems.string(annotations or {}, "title", annotations_path)
    return MCPTool(
        name=problems.required_string(item, "name", path),
        description=problems.string(item, "description", path),
        title=problems.string(item, "title", path) or legacy_title or None,
        input_schema=read_object(item, "inputSchema", problems, path),
        output_schema=read_object(item, "outputSchema", problems, path),
        annotations=annotations,
        path=path,
    )


def read_object(
    item: Document, key: str, problems: Problems, path: str
) -> Document | None:
    """Return an object, which may be empty, or None if it is missing."""
    value = problems.object(item, key, path)
    return value if isinstance(item.get(key), dict) else None


def read_resources(
    server: Document, problems: Problems, path: str
) -> Iterator[MCPResource]:
    for item_path, item in iter_items(server, "resources", problems, path):
        yield read_resource(item_path, item, "uriTemplate" in item, problems)
    for item_path, item in iter_items(server, "resourceTemplates", problems, path):
        yield read_resource(item_path, item, True, problems)


def read_resource(
    path: str, item: Document, is_template: bool, problems: Problems
) -> MCPResource:
    uri = problems.string(item, "uri", path)
    uri_template = problems.string(item, "uriTemplate", path)
    if not uri and not uri_template:
        message = "has neither uri nor uriTemplate, so that clients cannot read it"
        problems.warning(path, message)
    return MCPResource(
        name=read_resource_name(path, item, problems),
        description=problems.string(item, "description", path),
        uri=uri or None,
        uri_template=uri_template or None,
        template=is_template or None,
        mime_type=problems.string(item, "mimeType", path) or None,
        size=read_size(path, item, problems),
        title=problems.string(item, "title", path) or None,
        path=path,
    )


def read_resource_name(path: str, item: Document, problems: Problems) -> str:
    """Return the name, else the title or URI: in many lists, items have no name."""
    for key in ("name", "title", "uri", "uriTemplate"):
        value = item.get(key)
        if isinstance(value, str) and value.strip():
            if key != "name":
                message = f"is required by MCP but missing; its {key} is used instead"
                problems.warning(member_path(path, "name"), message)
            return value
    return problems.required_string(item, "name", path)


def read_size(path: str, item: Document, problems: Problems) -> int | None:
    size = item.get("size")
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    if size is not None:
        message = "should be a number of bytes; ignored"
        problems.warning(member_path(path, "size"), message)
    return None


def read_prompts(
    server: Document, problems: Problems, path: str
) -> Iterator[MCPPrompt]:
    for item_path, item in iter_items(server, "prompts", problems, path):
        yield MCPPrompt(
            name=problems.required_string(item, "name", item_path),
            description=problems.string(item, "description", item_path),
            title=problems.string(item, "title", item_path) or None,
            arguments=read_arguments(item_path, item, problems),
            path=item_path,
        )


def read_arguments(
    path: str, item: Document, problems: Problems
) -> list[Document] | None:
    arguments, arguments_path = item.get("arguments"), member_path(path, "arguments")
    if arguments is None:
        return None
    if not isinstance(arguments, list):
        problems.warning(arguments_path, "should be a list of objects; ignored")
        return None
    for n, argument in enumerate(arguments):
        if not isinstance(argument, dict):
            problems.warning(f"{arguments_path}[{n}]", "should be an object; ignored")
    return [argument for argument in arguments if isinstance(argument, dict)]
