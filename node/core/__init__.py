"""Implement the pure core: (state, event, now) -> effects.

The core has no clock, random source, socket, file, logger or thread.
"""
