"""Invariants of the replicated partitions of topics."""
