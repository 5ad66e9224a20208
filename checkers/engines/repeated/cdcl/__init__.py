"""Conflict-driven clause learning for the order of register calls."""
