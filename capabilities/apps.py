from django.apps import AppConfig


class CapabilitiesConfig(AppConfig):
    """Registers the built-in kinds and protocols; other apps add theirs likewise."""

    name = "capabilities"

    def ready(self) -> None:
        from .features import FEATURE
        from .kinds import kinds
        from .parsers import parsers
        from .protocols.a2a import A2AParser
        from .protocols.mcp import MCPParser

        kinds.register(FEATURE)
        for parser in (A2AParser(), MCPParser()):
            kinds.register(*parser.kinds)
            parsers.register(parser)
