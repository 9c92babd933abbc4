"""A third-party Django app that adds a protocol."""
