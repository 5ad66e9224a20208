"""Judges long partitions by ranges of offsets."""
