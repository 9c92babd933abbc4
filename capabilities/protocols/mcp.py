from ..parsers import Parser


class MCPParser(Parser):
    slug = "mcp"
    label = "MCP server"
    kinds = ()
    expects = ""

    def recognises(self, document):
        return False

    def parse(self, document, problems): ...
