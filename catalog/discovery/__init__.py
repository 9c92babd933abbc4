"""Find an agent's definition: try candidate URLs and parse the responses."""

from .resolver import (
    ResolvedDefinition,
    build_resolver_for_entry,
    build_resolver_for_url,
)

__all__ = ["ResolvedDefinition", "build_resolver_for_entry", "build_resolver_for_url"]
