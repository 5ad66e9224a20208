"""Counters: a greedy order, or a frontier."""
