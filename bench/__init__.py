"""Benchmarks that print ratios within one run; they are not timed tests."""
