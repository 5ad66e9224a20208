"""Invariants of answers between replicas of the quorum, and of answers about the quorum."""
