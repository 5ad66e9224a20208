"""Counters that only grow."""
