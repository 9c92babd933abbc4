"""AG-UI agents, by the capabilities they declare: https://docs.ag-ui.com."""

from .parser import AGUIParser

__all__ = ["AGUIParser"]
