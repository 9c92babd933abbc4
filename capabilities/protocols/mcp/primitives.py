"""What an MCP definition lists of its tools, resources and prompts."""

from collections.abc import Iterator

from ...problems import Document, Problems, member_path
from .records import MCPPrompt, MCPResource, MCPTool


def listed(
    document: Document, key: str, problems: Problems, at: str
) -> Iterator[tuple[str, Document]]:
    """Each item with its path; SEP-1649 cards may say `dynamic` instead of listing."""
    if document.get(key) in ("dynamic", ["dynamic"]):
        message = "is dynamic: only the running server can list them"
        problems.warning(member_path(at, key), message)
        return
    yield from problems.iter_objects(document, key, at)


def read_tools(document: Document, problems: Problems, at: str) -> Iterator[MCPTool]:
    for path, stated in listed(document, "tools", problems, at):
        if stated.get("inputSchema") is None:
            place = member_path(path, "inputSchema")
            problems.warning(place, "is required by MCP; missing")
        annotations = read_object(stated, "annotations", problems, path)
        hint = problems.string(
            annotations or {}, "title", member_path(path, "annotations")
        )
        yield MCPTool(
            name=problems.required_string(stated, "name", path),
            description=problems.string(stated, "description", path),
            title=problems.string(stated, "title", path) or hint or None,
            input_schema=read_object(stated, "inputSchema", problems, path),
            output_schema=read_object(stated, "outputSchema", problems, path),
            annotations=annotations,
            path=path,
        )


def read_object(
    stated: Document, key: str, problems: Problems, at: str
) -> Document | None:
    """An object as it stands, even an empty one; None when there is none."""
    value = problems.object(stated, key, at)
    return value if isinstance(stated.get(key), dict) else None


def read_resources(
    document: Document, problems: Problems, at: str
) -> Iterator[MCPResource]:
    for path, stated in listed(document, "resources", problems, at):
        yield read_resource(path, stated, "uriTemplate" in stated, problems)
    for path, stated in listed(document, "resourceTemplates", problems, at):
        yield read_resource(path, stated, True, problems)


def read_resource(
    path: str, stated: Document, template: bool, problems: Problems
) -> MCPResource:
    uri = problems.string(stated, "uri", path)
    uri_template = problems.string(stated, "uriTemplate", path)
    if not uri and not uri_template:
        problems.warning(path, "has neither uri nor uriTemplate: nobody can read it")
    return MCPResource(
        name=resource_name(path, stated, problems),
        description=problems.string(stated, "description", path),
        uri=uri or None,
        uri_template=uri_template or None,
        template=template or None,
        mime_type=problems.string(stated, "mimeType", path) or None,
        size=read_size(path, stated, problems),
        title=problems.string(stated, "title", path) or None,
        path=path,
    )


def resource_name(path: str, stated: Document, problems: Problems) -> str:
    """Its name, else its title, else its address: many lists give only that."""
    for key in ("name", "title", "uri", "uriTemplate"):
        value = stated.get(key)
        if isinstance(value, str) and value.strip():
            if key != "name":
                message = f"is required by MCP; missing, named by its {key}"
                problems.warning(member_path(path, "name"), message)
            return value
    return problems.required_string(stated, "name", path)


def read_size(path: str, stated: Document, problems: Problems) -> int | None:
    size = stated.get("size")
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    if size is not None:
        problems.warning(
            member_path(path, "size"), "should be a number of bytes; ignored"
        )
    return None


def read_prompts(
    document: Document, problems: Problems, at: str
) -> Iterator[MCPPrompt]:
    for path, stated in listed(document, "prompts", problems, at):
        yield MCPPrompt(
            name=problems.required_string(stated, "name", path),
            description=problems.string(stated, "description", path),
            title=problems.string(stated, "title", path) or None,
            arguments=read_arguments(path, stated, problems),
            path=path,
        )


def read_arguments(
    path: str, stated: Document, problems: Problems
) -> list[Document] | None:
    arguments, place = stated.get("arguments"), member_path(path, "arguments")
    if arguments is None:
        return None
    if not isinstance(arguments, list):
        problems.warning(place, "should be a list of objects; ignored")
        return None
    for n, argument in enumerate(arguments):
        if not isinstance(argument, dict):
            problems.warning(f"{place}[{n}]", "should be an object; ignored")
    return [argument for argument in arguments if isinstance(argument, dict)]
