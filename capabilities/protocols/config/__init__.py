"""Configuration agents: texts whose front matter declares the agent."""

from .parser import ConfigParser

__all__ = ["ConfigParser"]
