"""Somebody else's Django app, which brings a protocol of its own."""
