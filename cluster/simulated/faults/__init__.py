"""Faults that only the simulator has, and the moments at which they happen."""
