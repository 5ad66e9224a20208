"""Disks in memory that lose in a crash all that was not flushed, and their faults."""
