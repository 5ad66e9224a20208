"""Decides small sub-histories: by brute force, or by a compiled engine."""
