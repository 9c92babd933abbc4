"""Finding the definition of an agent: the URLs to try, and reading what they return."""

from .resolver import Found, search_again, search_for

__all__ = ["Found", "search_again", "search_for"]
