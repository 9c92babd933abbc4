"""Benchmarks. Their results are ratios of times that were measured in the same run."""
