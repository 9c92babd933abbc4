from django.apps import AppConfig


class CapabilitiesConfig(AppConfig):
    """Registers the built-in kinds and protocols; other apps can register more."""

    name = "capabilities"

    def ready(self) -> None:
        from .features import FEATURE_KIND
        from .kinds import kinds
        from .parsers import parsers
        from .protocols.a2a import A2AParser
        from .protocols.agh import AGHParser
        from .protocols.agui import AGUIParser
        from .protocols.config import ConfigParser
        from .protocols.mcp import MCPParser

        if FEATURE_KIND.slug in kinds:
            # Tests that override INSTALLED_APPS make Django call this again.
            return
        kinds.register(FEATURE_KIND)
        for parser in (
            A2AParser(),
            MCPParser(),
            AGUIParser(),
            AGHParser(),
            ConfigParser(),
        ):
            kinds.register(*parser.kinds)
            parsers.register(parser)
