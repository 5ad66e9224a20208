"""Registers: by zones, by blocks, or by a portfolio of searches."""
