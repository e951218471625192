"""Benchmarks: ratios to a peer, measured interleaved in one run."""
