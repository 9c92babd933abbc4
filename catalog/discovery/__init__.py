"""Find an agent's definition: try candidate URLs and parse the responses."""

from .resolver import ResolvedDefinition, resolver_for_entry, resolver_for_url

__all__ = ["ResolvedDefinition", "resolver_for_entry", "resolver_for_url"]
