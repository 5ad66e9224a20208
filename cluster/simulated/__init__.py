"""Whole clusters on virtual time: the real core, storage and codec over a simulated world."""
