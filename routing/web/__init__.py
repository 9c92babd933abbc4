"""The web pages of the registry."""
