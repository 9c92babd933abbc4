"""Configuration agents: YAML or TOML, usually the front matter of a text."""

from .parser import ConfigParser

__all__ = ["ConfigParser"]
