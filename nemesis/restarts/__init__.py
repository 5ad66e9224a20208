"""Faults that end a node in an orderly way, or that disturb its next start."""
