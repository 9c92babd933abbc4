"""Find an agent's definition: try candidate URLs and parse the responses."""

from .attempts import FailedSearch, get_failed_search
from .resolved import ResolvedDefinition
from .resolver import build_resolver_for_entry, build_resolver_for_url

__all__ = [
    "FailedSearch",
    "ResolvedDefinition",
    "build_resolver_for_entry",
    "build_resolver_for_url",
    "get_failed_search",
]
