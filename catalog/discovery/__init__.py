"""Finding the definition of an agent: the URLs to try, and reading what they return."""

from .resolver import ResolvedDefinition, resolver_for_entry, resolver_for_url

__all__ = ["ResolvedDefinition", "resolver_for_entry", "resolver_for_url"]
