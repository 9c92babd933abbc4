"""The tools, resources and prompts that an MCP definition lists."""

from collections.abc import Iterator
from typing import Any

from ...problems import Document, Problems, member_path
from .records import MCPPrompt, MCPResource, MCPTool

COMMON_MEMBERS = {"_meta", "description", "icons", "name", "title"}
TOOL_MEMBERS = COMMON_MEMBERS | {
    "annotations",
    "execution",
    "inputSchema",
    "outputSchema",
}
RESOURCE_MEMBERS = COMMON_MEMBERS | {
    "annotations",
    "mimeType",
    "size",
    "uri",
    "uriTemplate",
}
PROMPT_MEMBERS = COMMON_MEMBERS | {"arguments"}


def iter_items(
    server: Document, key: str, problems: Problems, path: str
) -> Iterator[tuple[str, Document]]:
    """Yield path and object for each item of a list.

    Some cards list only the names of their items; cards of SEP-1649 may have the
    string `dynamic` instead of a list.
    """
    if server.get(key) in ("dynamic", ["dynamic"]):
        message = "is dynamic; only the running server can list its items"
        problems.warning(member_path(path, key), message)
        return
    values, list_path = server.get(key), member_path(path, key)
    if isinstance(values, list):
        items = [read_item(value) for value in values]
        for index, value in enumerate(values):
            if isinstance(value, str):
                message = "should be an object; read as the name"
                problems.warning(f"{list_path}[{index}]", message)
        yield from problems.iter_objects({key: items}, key, path)
    else:
        yield from problems.iter_objects(server, key, path)


def read_item(value: Any) -> Any:
    """Return an item of a list, as an object if it is only a name."""
    return {"name": value} if isinstance(value, str) else value


def read_tools(server: Document, problems: Problems, path: str) -> Iterator[MCPTool]:
    for tool_path, tool in iter_items(server, "tools", problems, path):
        yield read_tool(tool, problems, tool_path)


def read_tool(tool: Document, problems: Problems, path: str) -> MCPTool:
    problems.warn_unknown(tool, TOOL_MEMBERS, path)
    if tool.get("inputSchema") is None:
        schema_path = member_path(path, "inputSchema")
        problems.warning(schema_path, "is required by MCP but missing")
    annotations = read_object(tool, "annotations", problems, path)
    annotations_path = member_path(path, "annotations")
    legacy_title = problems.string(annotations or {}, "title", annotations_path)
    return MCPTool(
        name=problems.required_string(tool, "name", path),
        description=problems.string(tool, "description", path),
        title=problems.string(tool, "title", path) or legacy_title or None,
        input_schema=read_object(tool, "inputSchema", problems, path),
        output_schema=read_object(tool, "outputSchema", problems, path),
        annotations=annotations,
        execution=read_object(tool, "execution", problems, path),
        icons=read_objects(tool, "icons", problems, path),
        meta=read_object(tool, "_meta", problems, path),
        path=path,
    )


def read_object(
    document: Document, key: str, problems: Problems, path: str
) -> Document | None:
    """Return an object, which may be empty, or None if it is missing."""
    value = problems.object(document, key, path)
    return value if isinstance(document.get(key), dict) else None


def read_objects(
    document: Document, key: str, problems: Problems, path: str
) -> list[Document] | None:
    """Return the objects of a list, or None if it is missing."""
    values, list_path = document.get(key), member_path(path, key)
    if values is None:
        return None
    if not isinstance(values, list):
        problems.warning(list_path, "should be a list of objects; ignored")
        return None
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            problems.warning(f"{list_path}[{index}]", "should be an object; ignored")
    return [value for value in values if isinstance(value, dict)]


def read_resources(
    server: Document, problems: Problems, path: str
) -> Iterator[MCPResource]:
    for resource_path, resource in iter_items(server, "resources", problems, path):
        is_template = "uriTemplate" in resource
        yield read_resource(resource, is_template, problems, resource_path)
    for template_path, template in iter_items(
        server, "resourceTemplates", problems, path
    ):
        yield read_resource(template, True, problems, template_path)


def read_resource(
    resource: Document, is_template: bool, problems: Problems, path: str
) -> MCPResource:
    problems.warn_unknown(resource, RESOURCE_MEMBERS, path)
    uri = problems.string(resource, "uri", path)
    uri_template = problems.string(resource, "uriTemplate", path)
    if not uri and not uri_template:
        message = "has neither uri nor uriTemplate, so clients cannot read it"
        problems.warning(path, message)
    return MCPResource(
        name=read_resource_name(resource, problems, path),
        description=problems.string(resource, "description", path),
        uri=uri or None,
        uri_template=uri_template or None,
        template=is_template or None,
        mime_type=problems.string(resource, "mimeType", path) or None,
        size=read_size(resource, problems, path),
        title=problems.string(resource, "title", path) or None,
        annotations=read_object(resource, "annotations", problems, path),
        icons=read_objects(resource, "icons", problems, path),
        meta=read_object(resource, "_meta", problems, path),
        path=path,
    )


def read_resource_name(resource: Document, problems: Problems, path: str) -> str:
    """Return the name, else the title or URI: in many lists, items have no name."""
    for key in ("name", "title", "uri", "uriTemplate"):
        value = resource.get(key)
        if isinstance(value, str) and value.strip():
            if key != "name":
                message = f"is required by MCP but missing; its {key} is used instead"
                problems.warning(member_path(path, "name"), message)
            return value
    return problems.required_string(resource, "name", path)


def read_size(resource: Document, problems: Problems, path: str) -> int | None:
    size = resource.get("size")
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    if size is not None:
        message = "should be a number of bytes; ignored"
        problems.warning(member_path(path, "size"), message)
    return None


def read_prompts(
    server: Document, problems: Problems, path: str
) -> Iterator[MCPPrompt]:
    for prompt_path, prompt in iter_items(server, "prompts", problems, path):
        problems.warn_unknown(prompt, PROMPT_MEMBERS, prompt_path)
        yield MCPPrompt(
            name=problems.required_string(prompt, "name", prompt_path),
            description=problems.string(prompt, "description", prompt_path),
            title=problems.string(prompt, "title", prompt_path) or None,
            arguments=read_objects(prompt, "arguments", problems, prompt_path),
            icons=read_objects(prompt, "icons", problems, prompt_path),
            meta=read_object(prompt, "_meta", problems, prompt_path),
            path=prompt_path,
        )
