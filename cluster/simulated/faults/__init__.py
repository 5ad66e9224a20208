"""Faults that only the simulator supports, and the timing of faults."""
